//! Slices of bits: borrowed bits that begin and end at any bit.
//!
//! *Invariant:* a slice lies within its bytes.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::fmt;
use std::ops::Range;

use super::{load, mask};

/// A run of bits within bytes. Two slices are equal if their bits are equal, even if they begin at different
/// bits of their bytes.
#[derive(Clone, Copy, Default)]
pub struct BitSlice<'a> {
    bytes: &'a [u8],
    start: usize,
    len: usize,
}

impl<'a> BitSlice<'a> {
    /// Returns the `len` bits of `bytes` that begin at bit `start`. Returns `None` if `bytes` is too short.
    #[inline]
    #[must_use]
    pub fn new(bytes: &'a [u8], start: usize, len: usize) -> Option<Self> {
        let end = start.checked_add(len)?;
        (end <= bytes.len().saturating_mul(8)).then_some(Self { bytes, start, len })
    }

    /// Does the same as [`new`](Self::new) for bits that are known to lie within `bytes`.
    #[inline]
    pub(super) const fn within(bytes: &'a [u8], start: usize, len: usize) -> Self {
        Self { bytes, start, len }
    }

    /// Returns how many bits the slice has.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the slice is empty.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the bits in a range, counted from the start of this slice. Returns `None` if the range goes
    /// past the end of this slice.
    #[inline]
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Option<Self> {
        let len = range.end.checked_sub(range.start)?;
        (range.end <= self.len).then_some(Self {
            bytes: self.bytes,
            start: self.start.wrapping_add(range.start),
            len,
        })
    }

    /// Returns the bytes that contain the slice, and the bit at which the slice starts in them.
    #[inline]
    pub(super) const fn parts(self) -> (&'a [u8], usize) {
        (self.bytes, self.start)
    }

    /// Returns the 64 bits from bit `at` of the slice on. If fewer than 64 bits of the slice remain, the
    /// result continues with the bits after the slice in memory, and then with zeros.
    #[inline]
    pub(crate) fn window(&self, at: usize) -> u64 {
        load(self.bytes, self.start.wrapping_add(at))
    }

    /// Stores the words of 64 bits from bit `at` of the slice on. If the slice is too short, the missing bits
    /// are the same as in [`window`](Self::window).
    // This is a separate function, so that it does not slow down the loops that call it.
    #[inline(never)]
    pub(crate) fn copy_words(&self, at: usize, words: &mut [[u8; 8]]) {
        self.each_word(at, words, |word| word);
    }

    /// Calls `change` for each word of 64 bits from bit `at` of the slice on, and stores the results in
    /// `words`.
    #[inline(always)]
    pub(super) fn each_word(&self, at: usize, words: &mut [[u8; 8]], mut change: impl FnMut(u64) -> u64) {
        let start = self.start.wrapping_add(at);
        let (rest, shift) = (self.bytes.get(start / 8..).unwrap_or_default(), (start % 8) as u32);
        let (source, _) = rest.as_chunks::<8>();
        match source.split_first() {
            Some((first, others)) if others.len() >= words.len() => {
                let mut low = u64::from_le_bytes(*first);
                for (word, next) in words.iter_mut().zip(others) {
                    let high = u64::from_le_bytes(*next);
                    // Shifts twice, because one shift by 64 would overflow when `shift` is 0.
                    *word = change(low >> shift | high << 1 << 63_u32.wrapping_sub(shift)).to_le_bytes();
                    low = high;
                }
            }
            _ => words.iter_mut().zip((at..).step_by(64)).for_each(|(word, at)| {
                *word = change(self.window(at)).to_le_bytes();
            }),
        }
    }

    /// Returns up to 64 bits from bit `at` of the slice on. `at` must be within the slice. Bits past the end
    /// of the slice are zero.
    #[inline]
    pub(crate) fn word(&self, at: usize) -> u64 {
        let left = self.len.saturating_sub(at).min(64);
        load(self.bytes, self.start.wrapping_add(at)) & mask(left as u32)
    }
}

/// Makes a slice of all bits of the bytes.
impl<'a> From<&'a [u8]> for BitSlice<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self { bytes, start: 0, len: bytes.len().saturating_mul(8) }
    }
}

impl PartialEq for BitSlice<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && (0..self.len).step_by(64).all(|at| self.word(at) == other.word(at))
    }
}

impl Eq for BitSlice<'_> {}

/// Prints the bits in order, first bit first.
impl fmt::Debug for BitSlice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (0..self.len).try_for_each(|at| write!(f, "{}", self.word(at) & 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slice_stays_within_its_bytes() {
        let bytes = [0xff, 0x0f];
        assert!(BitSlice::new(&bytes, 3, 13).is_some());
        assert_eq!(BitSlice::new(&bytes, 3, 14), None);
        assert_eq!(BitSlice::new(&bytes, usize::MAX, 2), None);
        let slice = BitSlice::new(&bytes, 3, 10).unwrap();
        assert_eq!(slice.slice(4..11), None);
        #[expect(clippy::reversed_empty_ranges, reason = "the case under test")]
        let reversed = slice.slice(4..3);
        assert_eq!(reversed, None);
        assert_eq!(format!("{:?}", slice.slice(7..10).unwrap()), "110");
    }

    #[test]
    fn words_are_copied_wherever_they_lie() {
        let bytes: Vec<u8> = (1..60).collect();
        for start in 0..80 {
            let slice = BitSlice::new(&bytes, start, bytes.len() * 8 - start).unwrap();
            for at in 0..20 {
                for count in 0..8 {
                    let mut words = vec![[0; 8]; count];
                    slice.copy_words(at, &mut words);
                    let expected = (0..count).map(|word| slice.window(at + word * 64).to_le_bytes());
                    assert!(words.into_iter().eq(expected), "{count} words at {start} and {at}");
                }
            }
        }
    }

    #[test]
    fn slices_are_equal_wherever_they_lie() {
        let (ours, theirs) = ([0b1010_1100u8; 20], [0b0101_0110u8; 20]);
        let slice = BitSlice::new(&ours, 1, 131).unwrap();
        assert_eq!(slice, BitSlice::new(&theirs, 0, 131).unwrap());
        assert_ne!(slice, BitSlice::new(&theirs, 0, 130).unwrap());
        assert_ne!(slice, BitSlice::new(&theirs, 1, 131).unwrap());
    }
}
