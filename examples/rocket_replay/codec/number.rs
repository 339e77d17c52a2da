//! Codecs for small numbers.
//!
//! *Invariant:* every value can be written, and common values take fewer bits than others.

use repl::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};

/// Integers near zero. They are folded to natural numbers in the order 0, −1, 1, −2, 2 …, and written by
/// an Exp-Golomb code.
pub(crate) mod small {
    use super::*;

    const ORDER: u32 = 3;

    pub(crate) const NAME: &str = "small";

    /// Writes an integer. It takes 4 bits from −4 to 3, and 62 bits at most.
    pub(crate) fn write(number: &i32, writer: &mut BitWriter) -> Result<(), WriteError> {
        let folded = (*number << 1) ^ (*number >> 31);
        writer.write_exp_golomb(u64::from(folded as u32), ORDER);
        Ok(())
    }

    pub(crate) fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<i32, ReadError> {
        let folded = u32::try_from(reader.read_exp_golomb(ORDER)?).map_err(|_| ReadError::OutOfRange)?;
        Ok((folded >> 1) as i32 ^ -((folded & 1) as i32))
    }
}

/// Numbers from −1 up, mostly below 128: actors, objects, names. Numbers below 128 take 8 bits.
pub(crate) mod index {
    use super::*;

    const ORDER: u32 = 7;

    pub(crate) const NAME: &str = "index";

    pub(crate) fn write(number: &i32, writer: &mut BitWriter) -> Result<(), WriteError> {
        writer.write_exp_golomb(u64::from(number.wrapping_add(1) as u32), ORDER);
        Ok(())
    }

    pub(crate) fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<i32, ReadError> {
        let above = u32::try_from(reader.read_exp_golomb(ORDER)?).map_err(|_| ReadError::OutOfRange)?;
        Ok((above as i32).wrapping_sub(1))
    }
}

/// The position of a stick or pedal: 3 bits at rest or fully pressed, otherwise 9 bits.
pub(crate) mod stick {
    use super::*;

    const USUAL: [u8; 4] = [128, 255, 0, 254];

    pub(crate) const NAME: &str = "stick";

    pub(crate) fn write(position: &u8, writer: &mut BitWriter) -> Result<(), WriteError> {
        let usual = USUAL.iter().position(|usual| usual == position);
        writer.write_flag(usual.is_some());
        match usual {
            Some(index) => writer.write_bits(index as u64, 2),
            None => writer.write_bits(u64::from(*position), 8),
        }
        Ok(())
    }

    pub(crate) fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<u8, ReadError> {
        if reader.read_flag()? {
            let index = reader.read_bits(2)?;
            USUAL.get(index as usize).copied().ok_or(ReadError::OutOfRange)
        } else {
            let position = reader.read_bits(8)? as u8;
            if USUAL.contains(&position) { Err(ReadError::OutOfRange) } else { Ok(position) }
        }
    }
}
