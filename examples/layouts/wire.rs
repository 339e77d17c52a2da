//! A hand-written serialiser: a bearing in whole degrees.
//!
//! The serialiser uses [`BitWrite`] and [`BitRead`], which `repl` re-exports. So it works on the writer of a
//! packet and on any other writer of `bitstream_io`, for example one for a file. A field uses this serialiser
//! by `#[replicated(with = wire::bearing)]`.
//!
//! *Invariant:* [`read_degrees`] reads the bits that [`write_degrees`] writes, and refuses all others,
//! because they may come from an attacker.

use std::io;

use repl::bitstream_io::{BitRead, BitWrite};

/// How many bits a bearing takes on the wire.
pub(crate) const BEARING_BITS: u32 = 9;

fn write_degrees(degrees: u16, writer: &mut impl BitWrite) -> io::Result<()> {
    writer.write_var(BEARING_BITS, degrees)
}

fn read_degrees(reader: &mut impl BitRead) -> io::Result<Option<u16>> {
    let degrees = reader.read_var(BEARING_BITS)?;
    Ok(Some(degrees).filter(|degrees| *degrees < 360))
}

/// A serialiser for fields that are degrees as `f32`.
pub(crate) mod bearing {
    use repl::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};

    /// The name of the form on the wire. The handshake refuses builds with another name or version.
    pub(crate) const NAME: &str = "bearing";

    /// Raise the version whenever the bits change.
    pub(crate) const VERSION: u32 = 1;

    pub(crate) fn write(bearing: &f32, writer: &mut BitWriter) -> Result<(), WriteError> {
        let degrees = bearing.rem_euclid(360.0).round();
        if !degrees.is_finite() {
            return Err(WriteError::OutOfRange);
        }
        Ok(super::write_degrees(degrees as u16 % 360, writer)?)
    }

    pub(crate) fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<f32, ReadError> {
        super::read_degrees(reader)?.map(f32::from).ok_or(ReadError::OutOfRange)
    }
}

#[cfg(test)]
mod tests {
    use repl::bitstream_io::{BitReader, BitWriter, LittleEndian};
    use repl::{NoObjects, ReadError, ReferenceMap};

    use super::*;

    #[test]
    fn a_bearing_arrives_in_whole_degrees() {
        for (bearing, arrives) in [(0.0, 0.0), (359.4, 359.0), (359.6, 0.0), (-90.0, 270.0), (725.0, 5.0)] {
            let mut writer = repl::BitWriter::new();
            bearing::write(&bearing, &mut writer).expect("a number");
            let read = bearing::read(&mut writer.as_slice().reader(), &mut ReferenceMap::new(&NoObjects));
            assert_eq!(read, Ok(arrives));
        }
    }

    #[test]
    fn bits_that_are_no_bearing_are_refused() {
        let mut writer = repl::BitWriter::new();
        writer.write_bits(360, BEARING_BITS);
        let read = bearing::read(&mut writer.as_slice().reader(), &mut ReferenceMap::new(&NoObjects));
        assert_eq!(read, Err(ReadError::OutOfRange));
    }

    #[test]
    fn the_same_functions_write_and_read_files() {
        let mut file = BitWriter::endian(Vec::new(), LittleEndian);
        write_degrees(270, &mut file).expect("room");
        file.byte_align().expect("room");
        let bytes = file.into_writer();
        assert_eq!(
            read_degrees(&mut BitReader::endian(&bytes[..], LittleEndian)).expect("enough"),
            Some(270)
        );
    }
}
