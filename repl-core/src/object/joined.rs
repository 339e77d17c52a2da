//! Joined leaves: neighbours in memory that are compared, copied, written and read together. A leaf is a
//! value that is sent as a unit.
//!
//! *Invariant:* the memory of joined leaves is initialised and has no padding, because a program joins only
//! leaves without gaps between them, and only leaves with a wire form that equals their bytes.
#![expect(unsafe_code, reason = "reads and writes the bytes of several values")]
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::marker::PhantomData;

use crate::bits::{BitSlice, BitWriter, word_of};
use crate::schema::joined::{Form, Joined};
use crate::schema::program::TableEntry;

#[derive(Clone, Copy)]
pub(crate) struct JoinedLeaves<'a> {
    pub(super) joined: Joined,
    /// The entries of the leaves in the table of their object or element. Entries of other properties may
    /// follow.
    pub(super) entries: &'a [TableEntry],
    pub(super) memory: &'a [u8],
}

pub(crate) struct JoinedLeavesMut<'a> {
    pub(super) joined: Joined,
    pub(super) entries: &'a [TableEntry],
    pub(super) first: *mut u8,
    pub(super) object: PhantomData<&'a mut ()>,
}

impl JoinedLeaves<'_> {
    #[inline]
    pub(crate) fn leaves(&self) -> u32 {
        self.joined.leaves.into()
    }

    /// Calls `found` with the number of each leaf that has another value than in `other`, counted from zero.
    /// `other` contains the same properties of another object.
    #[inline]
    pub(crate) fn each_different(&self, other: JoinedLeaves<'_>, mut found: impl FnMut(u32)) {
        if self.joined.leaves == 1 {
            if word_of(self.memory) != word_of(other.memory) {
                found(0);
            }
            return;
        }
        let (mut ours, mut theirs) = (self.memory, other.memory);
        let leaves = self.entries.iter().take(self.joined.leaves.into());
        let offsets = leaves.map(|entry| entry.offset);
        let end = offsets.clone().next().unwrap_or(0).saturating_add(self.joined.bytes.into());
        let ends = offsets.clone().skip(1).chain(std::iter::once(end));
        for ((offset, end), at) in offsets.zip(ends).zip(0..) {
            let bytes = end.saturating_sub(offset) as usize;
            let (Some((one, rest)), Some((other, other_rest))) =
                (ours.split_at_checked(bytes), theirs.split_at_checked(bytes))
            else {
                return;
            };
            if word_of(one) != word_of(other) {
                found(at);
            }
            (ours, theirs) = (rest, other_rest);
        }
    }

    #[inline]
    pub(crate) fn write(&self, writer: &mut BitWriter) {
        if self.memory.len() > 8 {
            return self.write_words(writer);
        }
        let (word, bytes) = (word_of(self.memory), self.memory.len() as u32);
        match self.joined.form {
            Form::Number => writer.write_bits(word, bytes.wrapping_mul(8)),
            Form::Flags => writer.write_bits(gather(word), bytes),
            Form::Signed => writer.write_bits(word ^ self.joined.flip(), bytes.wrapping_mul(8)),
        }
    }

    /// Writes the values of leaves that together take more than 8 bytes. None of them is signed.
    // This function is not inlined, so that the code for one leaf stays short. Most updates change one leaf.
    #[inline(never)]
    fn write_words(&self, writer: &mut BitWriter) {
        let (words, rest) = self.memory.as_chunks::<8>();
        let bytes = rest.len() as u32;
        if self.joined.form == Form::Flags {
            words.iter().for_each(|word| writer.write_bits(gather(u64::from_le_bytes(*word)), 8));
            writer.write_bits(gather(word_of(rest)), bytes);
        } else {
            writer.write_words(words);
            writer.write_bits(word_of(rest), bytes.wrapping_mul(8));
        }
    }
}

impl JoinedLeavesMut<'_> {
    /// Returns the joined leaves that begin at `first`, to read values into them.
    ///
    /// # Safety
    /// `first` points to leaves that a program has joined as `joined`. The leaves are initialised, and
    /// borrowed mutably as long as the returned value exists.
    #[inline]
    pub(super) unsafe fn at(first: *mut u8, joined: Joined) -> Self {
        Self { joined, entries: &[], first, object: PhantomData }
    }

    #[inline]
    pub(crate) fn as_leaves(&self) -> JoinedLeaves<'_> {
        // SAFETY: `first` points to the joined leaves, which are initialised and borrowed as long as `self`.
        let memory = unsafe { std::slice::from_raw_parts(self.first, self.joined.bytes.into()) };
        JoinedLeaves { joined: self.joined, entries: self.entries, memory }
    }

    /// Copies the values of `from` to these leaves. `from` contains the same properties of another object.
    #[inline]
    pub(crate) fn copy(&mut self, from: JoinedLeaves<'_>) {
        assert_eq!(self.joined, from.joined, "leaves of different properties");
        if from.memory.len() < 8 {
            // SAFETY: the stored bytes are values of leaves of the same types.
            store(word_of(from.memory), unsafe { self.bytes_mut() });
            return;
        }
        // SAFETY: both pointers point to the same number of bytes of leaves of the same types. They point to
        // different objects, because these leaves are borrowed mutably.
        unsafe { std::ptr::copy_nonoverlapping(from.memory.as_ptr(), self.first, from.memory.len()) };
    }

    /// Reads the values of all leaves from the bits that begin at bit `at` of `bits`. Returns the position
    /// after these bits.
    #[inline(always)]
    pub(crate) fn read(&mut self, bits: BitSlice<'_>, at: usize) -> usize {
        let mut at = at;
        match self.joined.form {
            Form::Number => {
                // SAFETY: all bits are values of numbers.
                let (words, rest) = unsafe { self.bytes_mut() }.as_chunks_mut::<8>();
                if !words.is_empty() {
                    bits.copy_words(at, words);
                    at = at.wrapping_add(words.len().wrapping_mul(64));
                }
                if !rest.is_empty() {
                    store(bits.window(at), rest);
                }
                at.wrapping_add(rest.len().wrapping_mul(8))
            }
            Form::Flags => {
                // SAFETY: `scatter` returns only bytes of 0 and 1, which are the values of `bool`s.
                for chunk in unsafe { self.bytes_mut() }.chunks_mut(8) {
                    store(scatter(bits.window(at) & 0xff), chunk);
                    at = at.wrapping_add(chunk.len());
                }
                at
            }
            Form::Signed => {
                let flip = self.joined.flip();
                // SAFETY: all bits are values of a number.
                let bytes = unsafe { self.bytes_mut() };
                store(bits.window(at) ^ flip, bytes);
                at.wrapping_add(bytes.len().wrapping_mul(8))
            }
        }
    }

    /// Does the same as [`read`](Self::read) for leaves that take at most 8 bytes.
    #[inline(always)]
    pub(crate) fn read_word(&mut self, bits: BitSlice<'_>, at: usize) -> usize {
        let (word, bytes) = (bits.window(at), usize::from(self.joined.bytes));
        let (word, width) = match self.joined.form {
            Form::Number => (word, bytes.wrapping_mul(8)),
            Form::Flags => (scatter(word & 0xff), bytes),
            Form::Signed => (word ^ self.joined.flip(), bytes.wrapping_mul(8)),
        };
        // SAFETY: all bits are values of numbers, and `scatter` returns only bytes that are values of
        // `bool`s.
        store(word, unsafe { self.bytes_mut() });
        at.wrapping_add(width)
    }

    /// Returns the bytes of all leaves.
    ///
    /// # Safety
    /// The caller stores only bytes that are values of the leaves.
    #[inline(always)]
    unsafe fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: `first` points to the joined leaves, which are initialised and borrowed mutably as long as
        // `self`.
        unsafe { std::slice::from_raw_parts_mut(self.first, self.joined.bytes.into()) }
    }
}

/// Stores the lowest bytes of a word in up to 8 bytes, lowest byte first.
#[inline(always)]
fn store(word: u64, to: &mut [u8]) {
    // Two overlapping stores take less time than one store for each byte.
    let len = to.len();
    let from = |width: usize| word.wrapping_shr((len.wrapping_sub(width) as u32).wrapping_mul(8));
    if let Some(bytes) = to.first_chunk_mut::<4>() {
        *bytes = (word as u32).to_le_bytes();
        if let Some(bytes) = to.last_chunk_mut::<4>() {
            *bytes = (from(4) as u32).to_le_bytes();
        }
    } else if let Some(bytes) = to.first_chunk_mut::<2>() {
        *bytes = (word as u16).to_le_bytes();
        if let Some(bytes) = to.last_chunk_mut::<2>() {
            *bytes = (from(2) as u16).to_le_bytes();
        }
    } else if let Some(byte) = to.first_mut() {
        *byte = word as u8;
    }
}

/// Returns a byte. Its bit n is the lowest bit of byte n of `flags`. All other bits of `flags` must be zero.
#[inline]
pub(super) const fn gather(flags: u64) -> u64 {
    // The product has byte n of `flags` at bit 56 + n. No two bits are added at the same position, so nothing
    // is carried.
    flags.wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// Returns a word. Its byte n is bit n of `flags`, and `flags` is below 256. This is the reverse of
/// [`gather`].
#[inline]
const fn scatter(flags: u64) -> u64 {
    // Each byte of the product is `flags`. The mask keeps only bit n of byte n. The sum moves this bit to the
    // highest bit of its byte.
    let bits = flags.wrapping_mul(0x0101_0101_0101_0101) & 0x8040_2010_0804_0201;
    bits.wrapping_add(0x7f7f_7f7f_7f7f_7f7f) >> 7 & 0x0101_0101_0101_0101
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_has_its_bytes_in_order() {
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8];
        for len in 0..=8 {
            let mut expected = [0; 8];
            expected[..len].copy_from_slice(&bytes[..len]);
            assert_eq!(word_of(&bytes[..len]), u64::from_le_bytes(expected));
            let mut stored = [0; 8];
            store(u64::from_le_bytes(bytes), &mut stored[..len]);
            assert_eq!(stored, expected);
        }
    }

    #[test]
    fn flags_become_bits_and_bits_become_flags() {
        for bits in 0..256 {
            let flags = scatter(bits);
            for at in 0..8 {
                assert_eq!(flags.to_le_bytes()[at], (bits >> at & 1) as u8);
            }
            assert_eq!(gather(flags), bits);
        }
    }
}
