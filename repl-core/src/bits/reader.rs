//! Reads bits from memory. The bytes may come from an attacker, so the reader checks every read.
//!
//! *Invariant:* `start` ≤ `at` ≤ `end`, and `end` lies within the bytes. No input makes a reader panic or
//! read past `end`.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::io;
use std::ops::Range;

use bitstream_io::{
    BitCount, BitRead, Endianness, LittleEndian, Primitive, SignedBitCount, SignedInteger, UnsignedInteger,
};

use super::{BitSlice, load, mask, width_bits};
use crate::bits::ReadError;

/// Reads bits that a [`BitWriter`](super::BitWriter) wrote. A clone of a reader is cheap. Use a clone to
/// return to a position later.
///
/// User code reads through [`bitstream_io::BitRead`]. After an error, the position of the reader is somewhere
/// within the value that could not be read.
#[derive(Clone, Debug)]
pub struct BitReader<'a> {
    bytes: &'a [u8],
    start: usize,
    at: usize,
    end: usize,
}

impl<'a> BitSlice<'a> {
    /// Returns a reader that reads exactly the bits of this slice.
    #[inline]
    #[must_use]
    pub const fn reader(self) -> BitReader<'a> {
        let (bytes, start) = self.parts();
        BitReader { bytes, start, at: start, end: start.saturating_add(self.len()) }
    }
}

impl<'a> BitReader<'a> {
    /// Returns a reader of all bits of `bytes`.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, start: 0, at: 0, end: bytes.len().saturating_mul(8) }
    }

    /// Returns how many bits have been read.
    #[inline]
    #[must_use]
    pub const fn position(&self) -> usize {
        self.at.wrapping_sub(self.start)
    }

    /// Returns how many bits are left.
    #[inline]
    #[must_use]
    pub const fn remaining(&self) -> usize {
        self.end.wrapping_sub(self.at)
    }

    /// Reads a number that was written in `bits` bits, 0 to 64.
    ///
    /// # Errors
    /// Returns [`ReadError::End`] if fewer than `bits` bits are left, and [`ReadError::OutOfRange`] if `bits`
    /// is above 64.
    #[inline]
    pub fn read_bits(&mut self, bits: u32) -> Result<u64, ReadError> {
        if bits > 64 {
            return Err(ReadError::OutOfRange);
        }
        if bits as usize > self.remaining() {
            return Err(ReadError::End);
        }
        let word = load(self.bytes, self.at);
        self.at = self.at.wrapping_add(bits as usize);
        Ok(word & mask(bits))
    }

    /// Reads one bit.
    ///
    /// # Errors
    /// Returns [`ReadError::End`] if no bit is left.
    #[inline]
    pub fn read_flag(&mut self) -> Result<bool, ReadError> {
        match self.bytes.get(self.at / 8) {
            Some(byte) if self.at < self.end => {
                let flag = byte & 1_u8.wrapping_shl(self.at as u32 % 8) != 0;
                self.at = self.at.wrapping_add(1);
                Ok(flag)
            }
            _ => Err(ReadError::End),
        }
    }

    /// Reads a number that [`write_exp_golomb`](super::BitWriter::write_exp_golomb) wrote with the same
    /// `order`, which is 0 to 63.
    ///
    /// # Errors
    /// Returns [`ReadError::OutOfRange`] if the number is wider than 64 bits or `order` is above 63. Returns
    /// [`ReadError::End`] if the input ends within the number.
    #[inline]
    pub fn read_exp_golomb(&mut self, order: u32) -> Result<u64, ReadError> {
        let window = load(self.bytes, self.at);
        let zeros = window.trailing_zeros();
        let width = zeros.wrapping_add(order);
        let taken = width.wrapping_add(zeros).wrapping_add(1);
        if order < 64 && taken <= 64 && taken as usize <= self.remaining() {
            self.at = self.at.wrapping_add(taken as usize);
            return Ok(golomb(window.wrapping_shr(zeros) >> 1, width, order));
        }
        self.read_long_exp_golomb(order)
    }

    /// Reads one bit, and then a number like [`read_exp_golomb`](Self::read_exp_golomb) if the bit is set.
    ///
    /// # Errors
    /// Returns the errors of [`read_flag`](Self::read_flag) and [`read_exp_golomb`](Self::read_exp_golomb).
    #[inline(always)]
    pub fn read_optional_exp_golomb(&mut self, order: u32) -> Result<Option<u64>, ReadError> {
        let window = load(self.bytes, self.at);
        let zeros = (window >> 1).trailing_zeros();
        let width = zeros.wrapping_add(order);
        let taken = width.wrapping_add(zeros).wrapping_add(2);
        if window & 1 == 1 && order < 64 && taken <= 64 && taken as usize <= self.remaining() {
            self.at = self.at.wrapping_add(taken as usize);
            return Ok(Some(golomb(window.wrapping_shr(zeros) >> 2, width, order)));
        }
        self.read_long_optional(order)
    }

    /// Does the same as [`read_optional_exp_golomb`](Self::read_optional_exp_golomb), more slowly.
    #[cold]
    fn read_long_optional(&mut self, order: u32) -> Result<Option<u64>, ReadError> {
        if self.read_flag()? { self.read_exp_golomb(order).map(Some) } else { Ok(None) }
    }

    /// Does the same as [`read_exp_golomb`](Self::read_exp_golomb), more slowly, for codes of more than 64
    /// bits, and for input that is too short or invalid.
    #[cold]
    fn read_long_exp_golomb(&mut self, order: u32) -> Result<u64, ReadError> {
        let mut zeros = 0_u32;
        while !self.read_flag()? {
            zeros = zeros.saturating_add(1);
            if zeros > 64 {
                return Err(ReadError::OutOfRange);
            }
        }
        let width = zeros.saturating_add(order);
        if order > 63 || width > 64 {
            return Err(ReadError::OutOfRange);
        }
        let low = self.read_bits(width)?;
        let base = 1_u64.wrapping_shl(order);
        match 1_u64.checked_shl(width) {
            Some(high) => Ok((high | low).wrapping_sub(base)),
            // The number is 2^64 + `low` - `base`. This number fits into 64 bits only if `low` is below
            // `base`.
            None if low < base => Ok(low.wrapping_sub(base)),
            None => Err(ReadError::OutOfRange),
        }
    }

    /// Reads a number that [`write_below`](super::BitWriter::write_below) wrote with the same bound.
    ///
    /// # Errors
    /// Returns [`ReadError::OutOfRange`] if the number is not below `bound`, and [`ReadError::End`] if the
    /// input ends within the number.
    #[inline]
    pub fn read_below(&mut self, bound: u64) -> Result<u64, ReadError> {
        let value = self.read_bits(width_bits(bound))?;
        if value < bound { Ok(value) } else { Err(ReadError::OutOfRange) }
    }

    /// Skips `bits` bits.
    ///
    /// # Errors
    /// Returns [`ReadError::End`] if fewer than `bits` bits are left.
    #[inline]
    pub fn skip_bits(&mut self, bits: usize) -> Result<(), ReadError> {
        if bits > self.remaining() {
            return Err(ReadError::End);
        }
        self.at = self.at.wrapping_add(bits);
        Ok(())
    }

    /// Returns to an earlier position. Does nothing if the reader has not reached `position`. Costs less than
    /// a clone of the reader, because the processor would have to wait for the last store before it copies
    /// the reader.
    #[inline]
    pub fn rewind(&mut self, position: usize) {
        self.at = self.at.min(self.start.saturating_add(position));
    }

    /// Returns the next `bits` bits as a slice, and moves the reader past them.
    ///
    /// # Errors
    /// Returns [`ReadError::End`] if fewer than `bits` bits are left.
    #[inline]
    pub fn take(&mut self, bits: usize) -> Result<BitSlice<'a>, ReadError> {
        let start = self.at;
        self.skip_bits(bits)?;
        Ok(BitSlice::within(self.bytes, start, bits))
    }

    /// Returns the bits in a range of positions. These bits may have been read before. Returns `None` if the
    /// range goes past the end of the reader.
    #[inline]
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Option<BitSlice<'a>> {
        let len = self.end.checked_sub(self.start)?;
        BitSlice::new(self.bytes, self.start, len)?.slice(range)
    }
}

/// Returns the number whose Exp-Golomb code has the lowest `width` bits of `low` after the leading one.
/// `width` and `order` are below 64.
#[inline(always)]
const fn golomb(low: u64, width: u32, order: u32) -> u64 {
    let high = 1_u64.wrapping_shl(width);
    (low & high.wrapping_sub(1) | high).wrapping_sub(1_u64.wrapping_shl(order))
}

impl BitReader<'_> {
    /// Reads an integer that was written in `bits` bits, up to 128.
    #[inline]
    fn read_integer<U: UnsignedInteger>(&mut self, bits: u32) -> io::Result<U> {
        if bits > U::BITS_SIZE {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let end = |_| io::Error::from(io::ErrorKind::UnexpectedEof);
        let low = self.read_bits(bits.min(64)).map_err(end)?;
        let high = self.read_bits(bits.saturating_sub(64)).map_err(end)?;
        let value = u128::from(low) | u128::from(high) << 64;
        let mut bytes = U::buffer();
        for (to, from) in bytes.as_mut().iter_mut().zip(value.to_le_bytes()) {
            *to = from;
        }
        Ok(U::from_le_bytes(bytes))
    }
}

impl BitRead for BitReader<'_> {
    #[inline]
    fn read_bit(&mut self) -> io::Result<bool> {
        self.read_flag().map_err(|_| io::ErrorKind::UnexpectedEof.into())
    }

    #[inline]
    fn read_unsigned_counted<const MAX: u32, U: UnsignedInteger>(
        &mut self,
        bits: BitCount<MAX>,
    ) -> io::Result<U> {
        self.read_integer(bits.into())
    }

    #[inline]
    fn read_signed_counted<const MAX: u32, S: SignedInteger>(
        &mut self,
        bits: impl TryInto<SignedBitCount<MAX>>,
    ) -> io::Result<S> {
        let bits = bits.try_into().map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        let bits = u32::from(bits);
        let value = self.read_integer::<S::Unsigned>(bits)?.as_non_negative();
        // A signed integer has at least one bit, and `read_integer` refuses more bits than the type has. The
        // number of `unused` bits is therefore less than the size of the type.
        let unused = S::BITS_SIZE.saturating_sub(bits);
        #[expect(clippy::arithmetic_side_effects, reason = "shifts by fewer bits than the type has")]
        Ok(value << unused >> unused)
    }

    #[inline]
    fn read_to<V: Primitive>(&mut self) -> io::Result<V> {
        self.read_as_to::<LittleEndian, V>()
    }

    #[inline]
    fn read_as_to<F: Endianness, V: Primitive>(&mut self) -> io::Result<V> {
        let mut bytes = V::buffer();
        self.read_bytes(bytes.as_mut())?;
        Ok(F::bytes_to_primitive(bytes))
    }

    fn skip(&mut self, bits: u32) -> io::Result<()> {
        self.skip_bits(bits as usize).map_err(|_| io::ErrorKind::UnexpectedEof.into())
    }

    fn read_bytes(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        let bits = bytes.len().saturating_mul(8);
        let source = self.take(bits).map_err(|_| io::Error::from(io::ErrorKind::UnexpectedEof))?;
        for (chunk, at) in bytes.chunks_mut(8).zip((0..bits).step_by(64)) {
            for (to, from) in chunk.iter_mut().zip(source.word(at).to_le_bytes()) {
                *to = from;
            }
        }
        Ok(())
    }

    #[inline]
    fn byte_aligned(&self) -> bool {
        self.position().is_multiple_of(8)
    }

    /// Moves the reader to the next byte boundary, counted from its start.
    fn byte_align(&mut self) {
        let ahead = self.position().next_multiple_of(8).saturating_sub(self.position());
        self.at = self.at.wrapping_add(ahead.min(self.remaining()));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::BitWriter;
    use super::*;

    /// A value that this test writes and reads. Each variant is written by a different function of the
    /// writer.
    #[derive(Clone, Debug, PartialEq)]
    enum Item {
        Bits(u64, u32),
        Flag(bool),
        ExpGolomb(u64, u32),
        Optional(Option<u64>, u32),
        Below(u64, u64),
        Signed(i64, u32),
        Wide(u128, u32),
        Bytes(Vec<u8>),
        Float(f64),
    }

    impl Item {
        fn write(&self, writer: &mut BitWriter) {
            use bitstream_io::BitWrite;
            match *self {
                Self::Bits(value, bits) => writer.write_bits(value, bits),
                Self::Flag(flag) => writer.write_flag(flag),
                Self::ExpGolomb(value, order) => writer.write_exp_golomb(value, order),
                Self::Optional(value, order) => {
                    writer.write_flag(value.is_some());
                    value.into_iter().for_each(|value| writer.write_exp_golomb(value, order));
                }
                Self::Below(value, bound) => writer.write_below(value, bound),
                Self::Signed(value, bits) => writer.write_signed_var(bits, value).unwrap(),
                Self::Wide(value, bits) => writer.write_unsigned_var(bits, value).unwrap(),
                Self::Bytes(ref bytes) => writer.write_bytes(bytes).unwrap(),
                Self::Float(value) => writer.write_from(value).unwrap(),
            }
        }

        /// Reads a value with the function that matches this variant.
        fn read(&self, reader: &mut BitReader<'_>) -> Option<Self> {
            Some(match *self {
                Self::Bits(_, bits) => Self::Bits(reader.read_bits(bits).ok()?, bits),
                Self::Flag(_) => Self::Flag(reader.read_flag().ok()?),
                Self::ExpGolomb(_, order) => Self::ExpGolomb(reader.read_exp_golomb(order).ok()?, order),
                Self::Optional(_, order) => {
                    Self::Optional(reader.read_optional_exp_golomb(order).ok()?, order)
                }
                Self::Below(_, bound) => Self::Below(reader.read_below(bound).ok()?, bound),
                Self::Signed(_, bits) => Self::Signed(reader.read_signed_var(bits).ok()?, bits),
                Self::Wide(_, bits) => Self::Wide(reader.read_unsigned_var(bits).ok()?, bits),
                Self::Bytes(ref bytes) => Self::Bytes(reader.read_to_vec(bytes.len()).ok()?),
                Self::Float(_) => Self::Float(reader.read_to().ok()?),
            })
        }
    }

    fn number() -> impl Strategy<Value = u64> {
        (any::<u64>(), 0..=64_u32).prop_map(|(value, bits)| value & mask(bits))
    }

    fn item() -> impl Strategy<Value = Item> {
        prop_oneof![
            (any::<u64>(), 0..=64_u32).prop_map(|(value, bits)| Item::Bits(value & mask(bits), bits)),
            any::<bool>().prop_map(Item::Flag),
            (number(), 0..64_u32).prop_map(|(value, order)| Item::ExpGolomb(value, order)),
            (prop::option::of(number()), 0..64_u32).prop_map(|(value, order)| Item::Optional(value, order)),
            (0..8_u64, 0..64_u32).prop_map(|(less, order)| Item::ExpGolomb(u64::MAX - less, order)),
            (any::<u64>(), number())
                .prop_map(|(value, bound)| Item::Below(value % bound.max(1), bound.max(1))),
            (any::<i64>(), 1..=64_u32).prop_map(|(value, bits)| Item::Signed(value >> (64 - bits), bits)),
            (any::<u128>(), 1..=128_u32).prop_map(|(value, bits)| Item::Wide(value >> (128 - bits), bits)),
            prop::collection::vec(any::<u8>(), 0..40).prop_map(Item::Bytes),
            prop::num::f64::NORMAL.prop_map(Item::Float),
        ]
    }

    proptest! {
        #[test]
        fn reading_gives_what_was_written(items in prop::collection::vec(item(), 0..40), start in 0..9_usize) {
            let mut writer = BitWriter::new();
            writer.write_bits(0, start as u32);
            items.iter().for_each(|item| item.write(&mut writer));
            let len = writer.bit_len();
            let mut reader = writer.slice(start..len).unwrap().reader();
            for item in &items {
                let before = reader.position();
                let read = item.read(&mut reader);
                prop_assert_eq!(read.as_ref(), Some(item));
                let after = reader.position();
                reader.rewind(before);
                reader.rewind(after);
                prop_assert_eq!(reader.position(), before);
                prop_assert_eq!(item.read(&mut reader), read);
                let mut again = BitWriter::new();
                item.write(&mut again);
                prop_assert_eq!(reader.slice(before..reader.position()), Some(again.as_slice()));
            }
            prop_assert_eq!(reader.remaining(), 0);
            prop_assert_eq!(reader.read_flag(), Err(ReadError::End));
        }

        #[test]
        fn any_bytes_are_a_value_with_one_form_or_an_error(
            bytes in prop::collection::vec(any::<u8>(), 0..60),
            sparse in any::<bool>(),
            start in 0..9_usize,
            short in 0..9_usize,
            items in prop::collection::vec(item(), 0..40),
        ) {
            let bytes: Vec<u8> = bytes.iter().map(|byte| if sparse { byte & byte >> 3 & 0x11 } else { *byte }).collect();
            let len = (bytes.len() * 8).saturating_sub(start + short);
            let mut reader = BitSlice::new(&bytes, start, len).unwrap_or_default().reader();
            for item in items {
                let before = reader.position();
                if let Some(value) = item.read(&mut reader) {
                    let mut writer = BitWriter::new();
                    value.write(&mut writer);
                    prop_assert_eq!(reader.slice(before..reader.position()), Some(writer.as_slice()));
                }
                prop_assert!(reader.position() <= len);
                prop_assert_eq!(reader.position() + reader.remaining(), len);
            }
        }
    }

    #[test]
    fn numbers_over_64_bits_are_refused() {
        let bytes = |zeros: usize, last: u8| [vec![0; zeros], vec![last], vec![0xff; 20]].concat();
        assert_eq!(BitReader::new(&bytes(8, 1)).read_exp_golomb(0), Err(ReadError::OutOfRange));
        assert_eq!(BitReader::new(&bytes(8, 2)).read_exp_golomb(0), Err(ReadError::OutOfRange));
        assert_eq!(BitReader::new(&bytes(7, 1)).read_exp_golomb(8), Err(ReadError::OutOfRange));
        assert_eq!(BitReader::new(&[0; 8]).read_exp_golomb(0), Err(ReadError::End));
        assert_eq!(BitReader::new(&[0xff; 8]).read_exp_golomb(64), Err(ReadError::OutOfRange));
    }

    #[test]
    fn numbers_at_or_over_the_bound_are_refused() {
        assert_eq!(BitReader::new(&[4]).read_below(5), Ok(4));
        assert_eq!(BitReader::new(&[5]).read_below(5), Err(ReadError::OutOfRange));
        assert_eq!(BitReader::new(&[]).read_below(1), Ok(0));
        assert_eq!(BitReader::new(&[]).read_below(0), Err(ReadError::OutOfRange));
    }

    #[test]
    fn reader_stops_at_the_end_of_its_slice() {
        let bytes = [0xff; 4];
        let mut reader = BitSlice::new(&bytes, 5, 9).unwrap().reader();
        assert_eq!(reader.read_bits(10), Err(ReadError::End));
        assert_eq!(reader.take(8).map(|bits| bits.len()), Ok(8));
        assert_eq!(reader.clone().read_flag(), Ok(true));
        assert_eq!(reader.read_bits(65), Err(ReadError::OutOfRange));
        reader.byte_align();
        assert!(reader.byte_aligned());
        assert_eq!(reader.skip_bits(2), Err(ReadError::End));
        reader.skip_bits(1).unwrap();
        reader.byte_align();
        assert_eq!((reader.position(), reader.remaining()), (9, 0));
    }
}
