//! Bits in memory: a writer, a reader, and slices that begin at any bit. Bits are counted from the lowest bit
//! of the first byte.
//!
//! Writer and reader implement the traits of `bitstream_io` (little endian) for user code. This library calls
//! the inherent methods instead, because they are faster.
//!
//! *Invariant:* a reader that reads with the same sequence of calls as the writer returns the same values.
//! Every number has exactly one encoding.

pub(crate) mod count;
mod error;
mod reader;
mod rendition;
mod rendition_form;
mod slice;
mod writer;

pub use error::{ReadError, WriteError};
pub use reader::BitReader;
pub use rendition::{Difference, DifferenceBits, Rendition, Revision};
pub(crate) use rendition_form::Head;
pub use slice::BitSlice;
pub use writer::BitWriter;

/// Returns how many bits a number below `bound` takes: ⌈log₂ `bound`⌉. Returns 0 if `bound` is 1 or 0.
#[must_use]
pub const fn width_bits(bound: u64) -> u32 {
    u64::BITS - bound.saturating_sub(1).leading_zeros()
}

/// Returns a word with its lowest `bits` bits set. If `bits` is above 64, all 64 bits are set.
#[inline]
const fn mask(bits: u32) -> u64 {
    match u64::MAX.checked_shr(u64::BITS.saturating_sub(bits)) {
        Some(mask) => mask,
        None => 0,
    }
}

/// Returns a word made from at most 8 bytes in little-endian order.
// Two overlapping loads take less time than one load for each byte.
#[inline]
pub(crate) fn word_of(bytes: &[u8]) -> u64 {
    let shift = |width: usize| (bytes.len().saturating_sub(width) as u32).saturating_mul(8);
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        return u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << shift(4);
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk::<2>(), bytes.last_chunk::<2>()) {
        return u64::from(u16::from_le_bytes(*first)) | u64::from(u16::from_le_bytes(*last)) << shift(2);
    }
    bytes.first().copied().map_or(0, u64::from)
}

/// Returns the 64 bits that begin at bit `at` of `bytes`. Bits past the end of `bytes` count as zero.
#[inline]
fn load(bytes: &[u8], at: usize) -> u64 {
    let (first, shift) = (at / 8, (at % 8) as u32);
    let nine = bytes.get(first..first.wrapping_add(9)).unwrap_or_default();
    match (nine.first_chunk::<8>(), nine.last_chunk::<8>()) {
        // Bits that are in both words are at the same position after the shifts.
        (Some(low), Some(high)) => {
            u64::from_le_bytes(*low) >> shift | u64::from_le_bytes(*high) << (8 - shift)
        }
        _ => load_tail(bytes, first, shift),
    }
}

/// Returns 64 bits like [`load`], for the case that at most eight bytes are left from the byte `first` on.
#[cold]
fn load_tail(bytes: &[u8], first: usize, shift: u32) -> u64 {
    let rest = bytes.get(first..).unwrap_or_default();
    let missing = 8_usize.saturating_sub(rest.len()) as u32;
    let word = match bytes.last_chunk::<8>() {
        Some(last) => u64::from_le_bytes(*last).checked_shr(missing.wrapping_mul(8)).unwrap_or(0),
        None => rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    };
    word >> shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn width_is_the_ceiling_of_the_logarithm() {
        let widths = [0, 1, 2, 3, 4, 5, 8, 9, 256, 257, u64::MAX].map(width_bits);
        assert_eq!(widths, [0, 0, 1, 2, 2, 3, 3, 4, 8, 9, 64]);
    }

    #[test]
    fn mask_has_as_many_ones_as_asked() {
        for bits in 0..=64 {
            assert_eq!(mask(bits).trailing_ones(), bits);
            assert_eq!(mask(bits).count_ones(), bits);
        }
    }
}
