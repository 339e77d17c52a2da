//! A set of slots (numbers of objects): one bit per slot, and one summary bit per word. A *word* is 64
//! consecutive slots, and a *mask* has one bit for each slot of a word. The summary bits make iteration over
//! a set with few members fast. For sets that exist once per connection, use
//! [`SparseSlots`](crate::body::sparse_slots::SparseSlots).
//!
//! *Invariant:* a summary bit is set if and only if its word is not zero. `filled` is the number of words
//! that are not zero, so that operations on an empty set cost O(1), even if the set has much memory.

/// A set of slots, with one bit for each slot up to the highest one.
#[derive(Clone, Debug, Default)]
pub(crate) struct SlotSet {
    words: Vec<u64>,
    summary: Vec<u64>,
    filled: usize,
}

impl SlotSet {
    /// Returns an empty set with memory for all slots below `end`.
    pub(crate) fn up_to(end: usize) -> Self {
        let words = end.div_ceil(64);
        Self { words: vec![0; words], summary: vec![0; words.div_ceil(64)], filled: 0 }
    }

    /// Adds `slot`. Allocates memory if the set has no memory for this slot.
    #[inline]
    pub(crate) fn insert(&mut self, slot: u32) {
        self.insert_mask(word_of(slot), bit_of(slot));
    }

    /// Adds the slots of a word that have a bit in `mask`. `word` is the index of the word (64 slots).
    #[inline]
    pub(crate) fn insert_mask(&mut self, word: usize, mask: u64) {
        if mask == 0 {
            return;
        }
        if self.words.len() <= word {
            self.grow(word);
        }
        let before = self.words[word];
        self.words[word] = before | mask;
        if before == 0 {
            self.fill(word);
        }
    }

    /// Updates the summary and the count after the word with the index `word` became nonzero.
    #[inline]
    fn fill(&mut self, word: usize) {
        self.filled += 1;
        self.summary[word / 64] |= 1 << (word % 64);
    }

    /// Adds `slot`. Returns whether it is a new member.
    #[inline(always)]
    pub(crate) fn insert_new(&mut self, slot: u32) -> bool {
        let (word, bit) = (word_of(slot), bit_of(slot));
        let Some(bits) = self.words.get_mut(word) else {
            self.insert_mask(word, bit);
            return true;
        };
        let before = *bits;
        *bits |= bit;
        if before == 0 {
            self.fill(word);
        }
        before & bit == 0
    }

    /// Allocates memory up to the last slot of the word with the index `word`.
    #[cold]
    fn grow(&mut self, word: usize) {
        self.words.resize(word + 1, 0);
        self.summary.resize(word / 64 + 1, 0);
    }

    /// Removes `slot`. Returns whether it was a member.
    pub(crate) fn take(&mut self, slot: u32) -> bool {
        let was_member = self.contains(slot);
        if was_member {
            self.remove(slot);
        }
        was_member
    }

    pub(crate) fn remove(&mut self, slot: u32) {
        self.remove_mask(word_of(slot), bit_of(slot));
    }

    /// Makes `slot` a member if `is_member` is true, and removes it otherwise.
    pub(crate) fn set(&mut self, slot: u32, is_member: bool) {
        if is_member { self.insert(slot) } else { self.remove(slot) }
    }

    /// Removes the slots of a word that have a bit in `mask`. `word` is the index of the word (64 slots).
    #[inline]
    pub(crate) fn remove_mask(&mut self, word: usize, mask: u64) {
        if let Some(bits) = self.words.get_mut(word)
            && *bits & mask != 0
        {
            *bits &= !mask;
            if *bits == 0 {
                self.filled -= 1;
                self.summary[word / 64] &= !(1 << (word % 64));
            }
        }
    }

    #[inline]
    pub(crate) fn contains(&self, slot: u32) -> bool {
        self.word(word_of(slot)) & bit_of(slot) != 0
    }

    /// Returns the members among the 64 slots of a word, as a bit mask.
    #[inline]
    pub(crate) fn word(&self, word: usize) -> u64 {
        self.words.get(word).copied().unwrap_or(0)
    }

    /// Returns the bit masks of the words from `first` to `end` (exclusive). The result is shorter if the set
    /// has no memory for the last words.
    #[inline]
    pub(crate) fn words_between(&self, first: usize, end: usize) -> &[u64] {
        let words = self.words.get(first..).unwrap_or_default();
        words.get(..end.saturating_sub(first)).unwrap_or(words)
    }

    /// Returns whether the set has no members. Costs O(1).
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.filled == 0
    }

    /// Removes all members and keeps the memory. Costs O(1) if the set is empty.
    pub(crate) fn clear(&mut self) {
        if self.is_empty() {
            return;
        }
        for at in 0..self.summary.len() {
            for word in bits(self.summary[at]) {
                self.words[at * 64 + word as usize] = 0;
            }
            self.summary[at] = 0;
        }
        self.filled = 0;
    }

    /// Returns how many bytes the set takes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        (self.words.capacity() + self.summary.capacity()) * size_of::<u64>()
    }

    /// Returns a bit mask of 64 words, beginning with the word `64 * at`. A bit is set if its word has
    /// members.
    #[inline]
    pub(crate) fn summary(&self, at: u32) -> u64 {
        self.summary.get(at as usize).copied().unwrap_or(0)
    }

    /// Returns the [summaries](Self::summary) that are not zero, in ascending order, each with its index.
    pub(crate) fn summaries(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let all: &[u64] = if self.is_empty() { &[] } else { &self.summary };
        (0..).zip(all.iter().copied()).filter(|(_, summary)| *summary != 0)
    }

    /// Returns the words that have members, in ascending order, each as its index and its bit mask.
    pub(crate) fn masks(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.summaries()
            .flat_map(|(at, summary)| bits(summary).map(move |word| at as usize * 64 + word as usize))
            .map(|word| (word, self.words[word]))
    }

    /// Returns the words in which the two sets have common members, in ascending order, each as its index and
    /// the bit mask of the common members. Costs O(1) if one of the sets is empty.
    pub(crate) fn masks_in<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (usize, u64)> + 'a {
        let theirs: &[u64] = if other.is_empty() { &[] } else { &other.summary };
        self.summaries()
            .take_while(|(at, _)| (*at as usize) < theirs.len())
            .flat_map(|(at, ours)| {
                bits(ours & theirs[at as usize]).map(move |word| at as usize * 64 + word as usize)
            })
            .map(|word| (word, self.words[word] & other.words[word]))
            .filter(|(_, mask)| *mask != 0)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.masks().flat_map(|(word, mask)| slots_of(word, mask))
    }
}

/// Returns the slots from `first` to `end` (exclusive) as words, each as its index and its bit mask.
pub(crate) fn masks_between(first: u32, end: u32) -> impl Iterator<Item = (usize, u64)> {
    (first / 64..end.div_ceil(64)).map(move |word| {
        let from = first.saturating_sub(word * 64);
        let left = 64 - (end - word * 64).min(64);
        (word as usize, u64::MAX << from & u64::MAX >> left)
    })
}

pub(crate) const fn word_of(slot: u32) -> usize {
    slot as usize / 64
}

pub(crate) const fn bit_of(slot: u32) -> u64 {
    1 << (slot % 64)
}

/// Returns the slots of the word with the index `word` that have a bit in `mask`, in ascending order.
pub(crate) fn slots_of(word: usize, mask: u64) -> impl Iterator<Item = u32> {
    bits(mask).map(move |bit| word as u32 * 64 + bit)
}

/// Returns the indices of the set bits, in ascending order.
pub(crate) fn bits(mask: u64) -> impl Iterator<Item = u32> {
    let mut left = mask;
    std::iter::from_fn(move || {
        if left == 0 {
            return None;
        }
        let bit = left.trailing_zeros();
        left &= left - 1;
        Some(bit)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_set_equals_the_naive_one(steps in prop::collection::vec((any::<bool>(), 0_u32..9_000), 0..200)) {
            let (mut set, mut naive) = (SlotSet::default(), BTreeSet::new());
            for (insert, slot) in steps {
                if insert {
                    prop_assert_eq!(set.insert_new(slot), naive.insert(slot));
                } else {
                    set.remove(slot);
                    naive.remove(&slot);
                }
            }
            prop_assert_eq!(set.iter().collect::<Vec<_>>(), naive.iter().copied().collect::<Vec<_>>());
            prop_assert!((0..9_000).all(|slot| set.contains(slot) == naive.contains(&slot)));
            prop_assert_eq!(set.is_empty(), naive.is_empty());
            set.clear();
            prop_assert!(set.is_empty());
            prop_assert!(set.iter().next().is_none());
        }

        #[test]
        fn the_masks_of_a_stretch_are_its_slots(first in 0..300_u32, count in 1..300_u32) {
            let slots: Vec<u32> =
                masks_between(first, first + count).flat_map(|(word, mask)| slots_of(word, mask)).collect();
            prop_assert_eq!(slots, (first..first + count).collect::<Vec<_>>());
        }
    }
}
