//! The bits of a map's key on the wire. Code that does not know the type of the key uses these bits to find
//! an entry.
//!
//! *Invariant:* the bits of a key are used only if decoding them returns the same key. So two keys of one map
//! never have the same bits.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::sync::Arc;

use crate::bits::BitSlice;

/// The number of bits of a key in one step of a path. A path is a list of numbers that leads to a value of an
/// object.
const STEP_BITS: u32 = 24;

/// Keys of up to this many bytes are stored without an allocation.
const SHORT_BYTES: usize = 16;

/// The bits of a key of a map. Keys are ordered by their number of bits, and then by their bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct KeyBits {
    bits: u32,
    bytes: Bytes,
}

/// The bytes of a key. The last byte is padded with zeros. The number of bits of a key decides its variant,
/// so keys with equally many bits always have the same variant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Bytes {
    /// The bytes of a key that fits into [`SHORT_BYTES`], padded with zeros to that length.
    Short([u8; SHORT_BYTES]),
    Long(Arc<[u8]>),
}

impl KeyBits {
    pub(crate) fn new(slice: BitSlice<'_>) -> Self {
        let mut reader = slice.reader();
        let bytes = std::iter::from_fn(|| {
            let width = reader.remaining().min(8) as u32;
            (width > 0).then(|| reader.read_bits(width).unwrap_or(0) as u8)
        });
        Self::of_bytes(slice.len() as u32, bytes)
    }

    /// Makes a key of `bits` bits. `bytes` returns at most as many bytes as `bits` bits need.
    fn of_bytes(bits: u32, bytes: impl Iterator<Item = u8>) -> Self {
        if bits as usize > SHORT_BYTES * 8 {
            return Self { bits, bytes: Bytes::Long(bytes.collect()) };
        }
        let mut short = [0; SHORT_BYTES];
        short.iter_mut().zip(bytes).for_each(|(to, byte)| *to = byte);
        Self { bits, bytes: Bytes::Short(short) }
    }

    fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Short(bytes) => bytes.get(..self.bits.div_ceil(8) as usize).unwrap_or_default(),
            Bytes::Long(bytes) => bytes,
        }
    }

    pub(crate) fn as_slice(&self) -> BitSlice<'_> {
        BitSlice::new(self.bytes(), 0, self.bits as usize).unwrap_or_default()
    }

    /// Returns the steps of a path that lead to the entry with this key: the number of bits of the key, then
    /// its bits, 24 in each step. No step of a path is `u32::MAX`.
    pub(crate) fn steps(&self) -> impl Iterator<Item = u32> + Clone {
        let words = self.bytes().chunks(STEP_BITS as usize / 8);
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
        std::iter::once(self.bits).chain(words.map(word))
    }

    /// Returns the key at the start of a path, and the steps after it.
    pub(crate) fn from_steps(steps: &[u32]) -> Option<(Self, &[u32])> {
        let (&bits, steps) = steps.split_first()?;
        let (words, rest) = steps.split_at_checked(bits.div_ceil(STEP_BITS) as usize)?;
        let bytes = words.iter().flat_map(|word| word.to_le_bytes().into_iter().take(STEP_BITS as usize / 8));
        Some((Self::of_bytes(bits, bytes.take(bits.div_ceil(8) as usize)), rest))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn r14_keys_ascend_by_their_bits_and_then_their_bytes(
            one in prop::collection::vec(0..3_u8, 0..20),
            other in prop::collection::vec(0..3_u8, 0..20),
            cut in 0..8_usize,
        ) {
            let (ones, others) = ((one.len() * 8).saturating_sub(cut), other.len() * 8);
            let key = |bytes: &[u8], bits: usize| KeyBits::new(BitSlice::new(bytes, 0, bits).unwrap());
            let mut filled = one.clone();
            if let Some(last) = filled.last_mut() {
                *last &= 0xff >> cut;
            }
            prop_assert_eq!(
                key(&one, ones).cmp(&key(&other, others)),
                (ones, &filled).cmp(&(others, &other))
            );
        }
    }

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
