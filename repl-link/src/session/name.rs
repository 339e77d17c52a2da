//! Encoding of names in control packets.
//!
//! *Invariant:* a name has at most 128 bytes. Reading a name allocates at most as many bytes as remain in the
//! packet.

use repl_core::{BitReader, BitWriter, ReadError};

/// The length of the longest name, in bytes.
pub(crate) const MAX_NAME_BYTES: usize = 128;

/// Returns the beginning of a name, cut to at most `max` bytes at a character boundary.
pub(crate) fn cut(name: &str, max: usize) -> &str {
    let mut end = name.len().min(max);
    while !name.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    name.get(..end).unwrap_or_default()
}

/// Writes a name, cut to at most `max` bytes.
pub(crate) fn write_name(name: &str, max: usize, writer: &mut BitWriter) {
    let bytes = cut(name, max.min(MAX_NAME_BYTES)).as_bytes();
    writer.write_exp_golomb(bytes.len() as u64, 4);
    bytes.iter().for_each(|&byte| writer.write_bits(byte.into(), 8));
}

pub(crate) fn read_name(reader: &mut BitReader<'_>) -> Result<String, ReadError> {
    let len = reader.read_exp_golomb(4)?;
    let max = (MAX_NAME_BYTES as u64).min(reader.remaining() as u64 / 8);
    if len > max {
        return Err(ReadError::TooLong { len: len.try_into().unwrap_or(usize::MAX), max: max as usize });
    }
    let mut bytes = Vec::with_capacity(len as usize);
    for _ in 0..len {
        bytes.push(reader.read_bits(8)? as u8);
    }
    String::from_utf8(bytes).map_err(|_| ReadError::InvalidUtf8)
}
