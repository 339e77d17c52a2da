//! The paths of static objects in packets: how an opening and a closing name an object that both sides know
//! by a path (S199).
//!
//! *Invariant:* a path on the wire has from 1 to [`MAX_PATH_BYTES`] bytes of UTF-8. Nothing is allocated for
//! a path that is longer than the rest of its packet.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use repl_core::{BitReader, BitWriter, ReadError};

/// The greatest length of a path, in bytes.
pub(crate) const MAX_PATH_BYTES: usize = 255;

/// The number of bits that contain the length of a path.
pub(crate) const LENGTH_BITS: u32 = 8;

/// How an opening names a static object: an object that both sides know by a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StaticName<P> {
    /// The receiver knows the path of the object from an earlier opening of the same object.
    Known,
    /// The opening contains the path.
    Path(P),
}

impl StaticName<String> {
    pub(crate) fn as_deref(&self) -> StaticName<&str> {
        match self {
            Self::Known => StaticName::Known,
            Self::Path(path) => StaticName::Path(path),
        }
    }
}

/// Returns the number of bits that a path takes.
pub(crate) const fn path_bits(path: &str) -> usize {
    (LENGTH_BITS as usize).saturating_add(path.len().saturating_mul(8))
}

/// Writes a path of at most [`MAX_PATH_BYTES`] bytes.
pub(crate) fn write_path(path: &str, writer: &mut BitWriter) {
    debug_assert!((1..=MAX_PATH_BYTES).contains(&path.len()), "the length was checked at the spawn");
    writer.write_bits(path.len() as u64, LENGTH_BITS);
    path.bytes().for_each(|byte| writer.write_bits(byte.into(), 8));
}

/// Reads a path that [`write_path`] wrote. Returns an error for all other bits.
pub(crate) fn read_path(reader: &mut BitReader<'_>) -> Result<String, ReadError> {
    let len = reader.read_bits(LENGTH_BITS)? as usize;
    if len == 0 {
        return Err(ReadError::OutOfRange);
    }
    if len > reader.remaining() / 8 {
        return Err(ReadError::End);
    }
    let mut bytes = Vec::with_capacity(len);
    for _ in 0..len {
        bytes.push(reader.read_bits(8)? as u8);
    }
    String::from_utf8(bytes).map_err(|_| ReadError::InvalidUtf8)
}

pub(crate) fn write_name(name: StaticName<&str>, writer: &mut BitWriter) {
    match name {
        StaticName::Known => writer.write_flag(false),
        StaticName::Path(path) => {
            writer.write_flag(true);
            write_path(path, writer);
        }
    }
}

pub(crate) fn read_name(reader: &mut BitReader<'_>) -> Result<StaticName<String>, ReadError> {
    Ok(if reader.read_flag()? { StaticName::Path(read_path(reader)?) } else { StaticName::Known })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn s199_paths_are_read_as_they_were_written() {
        for path in ["a", "level1/door_7", "ebene/tür", &"x".repeat(MAX_PATH_BYTES)] {
            let mut writer = BitWriter::new();
            writer.write_bits(5, 3);
            write_name(StaticName::Path(path), &mut writer);
            assert_eq!(writer.bit_len(), 3 + 1 + path_bits(path));
            write_name(StaticName::Known, &mut writer);
            let mut reader = writer.as_slice().reader();
            assert_eq!(reader.read_bits(3), Ok(5));
            assert_eq!(read_name(&mut reader), Ok(StaticName::Path(path.to_owned())));
            assert_eq!((read_name(&mut reader), reader.remaining()), (Ok(StaticName::Known), 0));
        }
    }

    #[test]
    fn s199_paths_that_cannot_be_are_refused() {
        let read = |bytes: &[u8]| read_path(&mut BitReader::new(bytes));
        assert_eq!(read(&[0, b'a']), Err(ReadError::OutOfRange));
        assert_eq!(read(&[2, b'a']), Err(ReadError::End));
        assert_eq!(read(&[]), Err(ReadError::End));
        assert_eq!(read(&[2, 0xc3, 0x28]), Err(ReadError::InvalidUtf8));
        assert_eq!(read(&[2, 0xc3, 0xa4]), Ok("ä".to_owned()));
    }

    proptest! {
        #[test]
        fn s199_any_bytes_are_a_path_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            if let Ok(path) = read_path(&mut BitReader::new(&bytes)) {
                prop_assert_eq!(path.as_bytes(), &bytes[1..=path.len()]);
            }
        }
    }
}
