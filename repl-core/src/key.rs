//! Forms of keys: what a map's key is on the wire, and by what its entry is known where no type is at hand.
//!
//! Invariant: a form names a key only if the key that it reads as is the one that it was written of; so two keys of one map never share a form.

use std::sync::Arc;

use crate::bits::BitSlice;

/// How many bits of a key one step of a path holds.
const STEP_BITS: u32 = 24;

/// The bits of a key, ordered by their number and then as bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct KeyBits {
    bits: u32,
    /// The last byte is filled up with zeros.
    bytes: Arc<[u8]>,
}

impl KeyBits {
    pub(crate) fn new(slice: BitSlice<'_>) -> Self {
        let mut bytes = Vec::with_capacity(slice.len().div_ceil(8));
        let mut reader = slice.reader();
        while reader.remaining() > 0 {
            let width = reader.remaining().min(8) as u32;
            bytes.push(reader.read_bits(width).unwrap_or(0) as u8);
        }
        Self { bits: slice.len() as u32, bytes: bytes.into() }
    }

    pub(crate) fn as_slice(&self) -> BitSlice<'_> {
        BitSlice::new(&self.bytes, 0, self.bits as usize).unwrap_or_default()
    }

    /// The steps of a path that lead to the key's entry: how many bits it has, and the bits, some to a step. None is `u32::MAX`.
    pub(crate) fn steps(&self) -> impl Iterator<Item = u32> + '_ {
        let words = self.bytes.chunks(STEP_BITS as usize / 8);
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
        std::iter::once(self.bits).chain(words.map(word))
    }

    /// The key that a path leads to, and the steps behind it.
    pub(crate) fn from_steps(steps: &[u32]) -> Option<(Self, &[u32])> {
        let (&bits, steps) = steps.split_first()?;
        let (words, rest) = steps.split_at_checked(bits.div_ceil(STEP_BITS) as usize)?;
        let bytes = words.iter().flat_map(|word| word.to_le_bytes().into_iter().take(STEP_BITS as usize / 8));
        let bytes = bytes.take(bits.div_ceil(8) as usize).collect();
        Some((Self { bits, bytes }, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_lead_back_to_the_key() {
        let bytes: Vec<u8> = (0..40).map(|byte| byte * 5 + 1).collect();
        for bits in 0..300 {
            let key = KeyBits::new(BitSlice::new(&bytes, 3, bits).unwrap());
            assert_eq!(key.as_slice(), BitSlice::new(&bytes, 3, bits).unwrap());
            let mut steps: Vec<u32> = key.steps().collect();
            assert!(steps.iter().all(|&step| step < u32::MAX));
            steps.push(7);
            assert_eq!(KeyBits::from_steps(&steps), Some((key, &[7][..])));
            assert!(KeyBits::from_steps(&steps[..steps.len() - 2]).is_none(), "{bits}");
        }
    }
}
