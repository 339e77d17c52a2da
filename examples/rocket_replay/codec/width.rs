//! Signed integers of very different sizes: a prefix code for the width (the number of bits), then the bits.
//!
//! *Invariant:* a table is a complete prefix code, so every long enough sequence of bits reads as a width.

use repl::{BitReader, BitWriter, ReadError};

/// The widths are 0 to 25 bits: integers from about −33 million to 33 million.
const WIDTHS: usize = 26;

/// The greatest length of the code of a width, in bits.
const LONGEST: usize = 15;

/// The prefix code for the widths of one kind of number. Common widths have short codes.
pub(super) struct Widths {
    /// For each width, the length of its code.
    lengths: [u8; WIDTHS],
    /// For each width, its code. The first bit that is written is the lowest.
    codes: [u16; WIDTHS],
    /// For each length, how many widths have a code of that length.
    counts: [u16; LONGEST + 1],
    /// The widths, ascending by code length and then by code.
    order: [u8; WIDTHS],
}

impl Widths {
    /// Makes the canonical code with these `lengths`.
    ///
    /// # Panics
    /// Panics if the lengths do not form a complete prefix code. If the table is a constant, the panic is a
    /// compile error.
    pub(super) const fn new(lengths: [u8; WIDTHS]) -> Self {
        let mut table = Self { lengths, codes: [0; WIDTHS], counts: [0; LONGEST + 1], order: [0; WIDTHS] };
        let (mut code, mut ranked, mut length) = (0_u16, 0, 1);
        while length <= LONGEST {
            let mut width = 0;
            while width < WIDTHS {
                if lengths[width] as usize == length {
                    table.codes[width] = code.reverse_bits() >> (16 - length);
                    table.counts[length] += 1;
                    table.order[ranked] = width as u8;
                    ranked += 1;
                    code += 1;
                }
                width += 1;
            }
            if length < LONGEST {
                code <<= 1;
            }
            length += 1;
        }
        assert!(ranked == WIDTHS && code == 1 << LONGEST, "the lengths make no complete prefix code");
        table
    }

    /// Returns whether `number` is narrow enough for [`write`](Self::write).
    pub(super) const fn holds(number: i64) -> bool {
        width_bits(number) < WIDTHS as u32
    }

    /// Writes `number`: its width, its sign, and the bits below its highest one.
    ///
    /// # Panics
    /// Panics if the number is too wide for the table.
    pub(super) fn write(&self, number: i64, writer: &mut BitWriter) {
        let width = width_bits(number);
        let index = width as usize;
        writer.write_bits(u64::from(self.codes[index]), u32::from(self.lengths[index]));
        if let Some(below) = width.checked_sub(1) {
            writer.write_flag(number < 0);
            writer.write_bits(number.unsigned_abs() ^ 1 << below, below);
        }
    }

    /// Reads a number that [`write`](Self::write) wrote. Any sequence of bits reads as a number of at most 25
    /// bits.
    ///
    /// # Errors
    /// Returns an error if the input ends.
    pub(super) fn read(&self, reader: &mut BitReader<'_>) -> Result<i64, ReadError> {
        let Some(below) = self.read_width(reader)?.checked_sub(1) else {
            return Ok(0);
        };
        let negative = reader.read_flag()?;
        let magnitude = (1 << below | reader.read_bits(below)?) as i64;
        Ok(if negative { -magnitude } else { magnitude })
    }

    fn read_width(&self, reader: &mut BitReader<'_>) -> Result<u32, ReadError> {
        // Codes of the same length are consecutive numbers, if their first bit counts as the highest. `first`
        // is the lowest of these numbers, `code` contains the bits that were read.
        let (mut code, mut first, mut ranked) = (0_u16, 0_u16, 0_u16);
        for count in &self.counts[1..] {
            code |= u16::from(reader.read_flag()?);
            if let Some(rank) = code.checked_sub(first).filter(|rank| rank < count) {
                let width = self.order.get(usize::from(ranked + rank)).ok_or(ReadError::OutOfRange)?;
                return Ok(u32::from(*width));
            }
            ranked += count;
            first = (first + count) << 1;
            code <<= 1;
        }
        Err(ReadError::OutOfRange)
    }
}

/// Returns how many bits the magnitude of `number` takes.
const fn width_bits(number: i64) -> u32 {
    u64::BITS - number.unsigned_abs().leading_zeros()
}
