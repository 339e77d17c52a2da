//! A set of slots (numbers of objects). Its memory and costs depend on the number of members, not on the
//! highest slot. A connection has several such sets, and in a large world most of them have few members.
//!
//! The set stores only the words (64 consecutive slots each) that have members. A block describes 64
//! consecutive words: which of them are stored, and where. A word that becomes empty remains stored for a
//! while, because the same slots are often added again.
//!
//! *Invariant:* the blocks are in ascending order, and each has at least one stored word. The stored words
//! are in ascending order, too. The number of stored words that are zero is at most [`SPARE_WORDS`], or at
//! most half of all stored words.

use repl_core::__private::preload_all;

use crate::body::slot_set::{SlotSet, bit_of, bits, slots_of, word_of};

/// Up to this number of empty words always remain stored.
const SPARE_WORDS: usize = 8;

/// The members of larger sets are not prefetched.
const MOST_PRELOADED: usize = 256;

/// A set of slots. It allocates no heap memory before its first member.
#[derive(Clone, Debug, Default)]
pub(crate) struct SparseSlots {
    blocks: Vec<Block>,
    /// The bit masks of the stored words, in ascending order, without gaps.
    words: Vec<u64>,
    /// The number of stored words that are zero.
    zeros: usize,
}

/// Says which of 64 consecutive words are stored.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// The index of the block. The block describes 64 words, beginning with the word `64 * at`.
    at: u32,
    /// The index in [`SparseSlots::words`] of the block's first stored word.
    first: u32,
    /// A bit for each of the 64 words. The bit is set if the word is stored.
    stored: u64,
    /// For each group of eight words, the number of stored words before the group. With this number, only the
    /// set bits of one byte of `stored` must be counted to find a word. Counting all set bits of `stored`
    /// would take longer on most targets of the Rust compiler.
    before: [u8; 8],
}

impl Block {
    const fn new(at: u32, first: u32, stored: u64) -> Self {
        let (mut before, mut eighth) = ([0; 8], 1);
        while eighth < 8 {
            before[eighth] = (stored & low_bits(eighth as u32 * 8)).count_ones() as u8;
            eighth += 1;
        }
        Self { at, first, stored, before }
    }

    /// Records that the word `bit` of the block, which was not stored before, is stored from now on.
    const fn store(&mut self, bit: u32) {
        self.stored |= 1 << bit;
        // Adds one to each group after the group of the word.
        let later = if bit < 56 { (u64::MAX / 255) << ((bit / 8 + 1) * 8) } else { 0 };
        self.before = (u64::from_le_bytes(self.before) + later).to_le_bytes();
    }

    /// Returns the index in [`SparseSlots::words`] of the word `bit` of the block, or the index at which this
    /// word must be inserted.
    #[inline]
    const fn place(&self, bit: u32) -> usize {
        let eighth = bit / 8 % 8;
        let below = (self.stored >> (eighth * 8)) as u8 & low_bits(bit % 8) as u8;
        self.first as usize + self.before[eighth as usize] as usize + below.count_ones() as usize
    }
}

impl SparseSlots {
    /// The set without members.
    pub(crate) const EMPTY: Self = Self { blocks: Vec::new(), words: Vec::new(), zeros: 0 };

    /// Adds `slot`. Costs O(log blocks) if the word of the slot is stored, and otherwise O(stored words).
    #[inline]
    pub(crate) fn insert(&mut self, slot: u32) {
        self.insert_mask(word_of(slot), bit_of(slot));
    }

    /// Adds the slots of a word that have a bit in `mask`. `word` is the index of the word (64 slots). If
    /// words are added in ascending order, each costs O(1).
    #[inline]
    pub(crate) fn insert_mask(&mut self, word: usize, mask: u64) {
        if mask == 0 {
            return;
        }
        if let Some(place) = self.place(word) {
            let bits = &mut self.words[place];
            self.zeros -= usize::from(*bits == 0);
            *bits |= mask;
        } else {
            self.store(word, mask);
        }
    }

    /// Stores a word that is not stored yet.
    #[inline(never)]
    fn store(&mut self, word: usize, mask: u64) {
        let (at, bit) = ((word / 64) as u32, (word % 64) as u32);
        let index = match self.find(at) {
            Ok(index) => index,
            Err(index) => {
                let first = self.blocks.get(index).map_or(self.words.len() as u32, |next| next.first);
                self.blocks.insert(index, Block::new(at, first, 0));
                index
            }
        };
        let block = &mut self.blocks[index];
        let place = block.place(bit);
        block.store(bit);
        self.words.insert(place, mask);
        self.blocks[index + 1..].iter_mut().for_each(|block| block.first += 1);
    }

    pub(crate) fn remove(&mut self, slot: u32) {
        self.remove_mask(word_of(slot), bit_of(slot));
    }

    /// Makes `slot` a member if `is_member` is true, and removes it otherwise.
    pub(crate) fn set(&mut self, slot: u32, is_member: bool) {
        if is_member { self.insert(slot) } else { self.remove(slot) }
    }

    /// Removes the slots of a word that have a bit in `mask`. `word` is the index of the word (64 slots).
    /// Costs O(log blocks) on average.
    #[inline]
    pub(crate) fn remove_mask(&mut self, word: usize, mask: u64) {
        let Some(place) = self.place(word) else { return };
        let bits = &mut self.words[place];
        if *bits & mask == 0 {
            return;
        }
        *bits &= !mask;
        if *bits == 0 {
            self.zeros += 1;
            self.limit_zeros();
        }
    }

    /// Drops all stored words that are zero, if there are too many of them.
    #[inline(never)]
    fn limit_zeros(&mut self) {
        if self.zeros <= SPARE_WORDS {
            return;
        }
        if self.is_empty() {
            self.clear();
        } else if self.zeros > self.words.len() / 2 {
            self.drop_zeros();
        }
    }

    /// Returns whether `slot` is a member. Costs O(1) if each block has members, and otherwise O(log blocks).
    #[inline]
    pub(crate) fn contains(&self, slot: u32) -> bool {
        self.word(word_of(slot)) & bit_of(slot) != 0
    }

    /// Returns the members among the 64 slots of a word, as a bit mask.
    #[inline]
    pub(crate) fn word(&self, word: usize) -> u64 {
        self.place(word).map_or(0, |place| self.words[place])
    }

    /// Returns a bit mask of 64 words, beginning with the word `64 * at`. The bit of a word that has members
    /// is set. The bit of an empty word may be set, too.
    #[inline]
    pub(crate) fn summary(&self, at: u32) -> u64 {
        if self.is_empty() {
            return 0;
        }
        self.find(at).map_or(0, |index| self.blocks[index].stored)
    }

    /// Returns whether all members of `other` are members of this set. Costs O(words of `other`), with only a
    /// few instructions for each word of a block that is stored without gaps.
    pub(crate) fn contains_all(&self, other: &SlotSet) -> bool {
        other.summaries().all(|(at, summary)| {
            let Ok(index) = self.find(at) else { return false };
            let block = &self.blocks[index];
            let (first, end) = (summary.trailing_zeros() as usize, 64 - summary.leading_zeros() as usize);
            if end <= block.stored.trailing_ones() as usize {
                // This set stores the words without gaps, so they are compared as slices.
                let ours = &self.words[block.first as usize..][first..end];
                let theirs = other.words_between(at as usize * 64 + first, at as usize * 64 + end);
                let lacking = theirs.iter().zip(ours).map(|(theirs, ours)| theirs & !ours);
                return lacking.fold(0, |sum, word| sum | word) == 0;
            }
            let is_here = |bit: u32| {
                let word = other.word(at as usize * 64 + bit as usize);
                word & !self.words[block.place(bit)] == 0
            };
            summary & !block.stored == 0 && bits(summary).all(is_here)
        })
    }

    /// Returns the lowest slot that is not a member. Costs O(number of lower slots).
    pub(crate) fn first_absent(&self) -> u32 {
        let full = self.masks().zip(0..).take_while(|&((word, mask), next)| word == next && mask == u64::MAX);
        let word = full.count();
        word as u32 * 64 + self.word(word).trailing_ones()
    }

    /// Returns whether the set has no members. Costs O(1).
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.words.len() == self.zeros
    }

    /// Removes all members and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.blocks.clear();
        self.words.clear();
        self.zeros = 0;
    }

    /// Loads the members into the processor's cache, if the set is small.
    pub(crate) fn preload(&self) {
        if self.words.len() <= MOST_PRELOADED {
            preload_all(self.words.as_slice());
            preload_all(self.blocks.as_slice());
        }
    }

    /// Returns how many bytes the set takes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.blocks.capacity() * size_of::<Block>() + self.words.capacity() * size_of::<u64>()
    }

    /// Frees the memory that the members do not need.
    pub(crate) fn shrink(&mut self) {
        self.drop_zeros();
        self.blocks.shrink_to_fit();
        self.words.shrink_to_fit();
    }

    /// Returns the words that have members, in ascending order, each as its index and its bit mask. Costs
    /// O(words with members).
    pub(crate) fn masks(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let blocks: &[Block] = if self.is_empty() { &[] } else { &self.blocks };
        let indices = blocks
            .iter()
            .flat_map(|block| bits(block.stored).map(|bit| block.at as usize * 64 + bit as usize));
        indices.zip(self.words.iter().copied()).filter(|(_, mask)| *mask != 0)
    }

    /// Returns the words in which the two sets have common members, in ascending order, each as its index and
    /// the bit mask of the common members. Costs O(1) if one of the sets is empty, and otherwise O(blocks +
    /// words that have members in both sets).
    pub(crate) fn masks_in<'a>(&'a self, other: &'a SlotSet) -> impl Iterator<Item = (usize, u64)> + 'a {
        let blocks: &[Block] = if self.is_empty() || other.is_empty() { &[] } else { &self.blocks };
        blocks.iter().flat_map(move |block| {
            let common = bits(block.stored & other.summary(block.at));
            let both = common.map(move |bit| {
                let word = block.at as usize * 64 + bit as usize;
                (word, self.words[block.place(bit)] & other.word(word))
            });
            both.filter(|(_, mask)| *mask != 0)
        })
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.masks().flat_map(|(word, mask)| slots_of(word, mask))
    }

    /// Returns the position in `blocks` of the block with the index `at`, or the position at which it must be
    /// inserted.
    #[inline]
    fn find(&self, at: u32) -> Result<usize, usize> {
        // If each block has members, the position of a block equals its index.
        match self.blocks.get(at as usize) {
            Some(block) if block.at == at => Ok(at as usize),
            _ if self.blocks.is_empty() => Err(0),
            _ => self.search(at),
        }
    }

    /// Does the same as [`find`](Self::find), if some blocks before this one have no members.
    #[inline(never)]
    fn search(&self, at: u32) -> Result<usize, usize> {
        let end = self.blocks.len().min(at as usize + 1);
        self.blocks[..end].binary_search_by_key(&at, |block| block.at)
    }

    /// Returns the position in `words` of a word, if the word is stored.
    #[inline]
    fn place(&self, word: usize) -> Option<usize> {
        let (block, bit) = (&self.blocks[self.find((word / 64) as u32).ok()?], (word % 64) as u32);
        (block.stored >> bit & 1 == 1).then(|| block.place(bit))
    }

    /// Drops all stored words that are zero. Costs O(stored words).
    fn drop_zeros(&mut self) {
        if self.zeros == 0 {
            return;
        }
        let (words, mut first) = (&self.words, 0);
        self.blocks.retain_mut(|block| {
            let stored = bits(block.stored).filter(|&bit| words[block.place(bit)] != 0);
            let stored = stored.fold(0, |mask, bit| mask | 1 << bit);
            *block = Block::new(block.at, first, stored);
            first += stored.count_ones();
            stored != 0
        });
        self.words.retain(|word| *word != 0);
        self.zeros = 0;
    }
}

/// Returns a mask of all bits below `bit`, which is less than 64.
const fn low_bits(bit: u32) -> u64 {
    (1 << bit) - 1
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// Asserts the invariants of `set`, and that it has the same members as `naive`, a set of the standard
    /// library.
    fn check(set: &SparseSlots, naive: &BTreeSet<u32>) {
        assert!(set.iter().eq(naive.iter().copied()), "{set:?}");
        assert_eq!(set.is_empty(), naive.is_empty());
        assert!(set.blocks.is_sorted_by(|one, other| one.at < other.at));
        let mut first = 0;
        for block in &set.blocks {
            assert!(block.stored != 0 && block.first == first, "{set:?}");
            assert_eq!(block.before, Block::new(block.at, first, block.stored).before);
            first += block.stored.count_ones();
        }
        assert_eq!(first as usize, set.words.len());
        assert_eq!(set.words.iter().filter(|word| **word == 0).count(), set.zeros);
        assert!(set.zeros <= SPARE_WORDS.max(set.words.len() / 2));
        let absent = (0..).find(|slot| !naive.contains(slot)).unwrap_or_default();
        assert_eq!(set.first_absent(), absent);
    }

    /// Returns a strategy for slots that are near each other or far from each other.
    fn slots() -> impl Strategy<Value = u32> {
        prop_oneof![0..200_u32, 0..9_000_u32, 0..2_000_000_u32]
    }

    proptest! {
        #[test]
        fn a_sparse_set_equals_the_naive_one(
            steps in prop::collection::vec((0..8_u8, slots(), any::<u64>()), 0..300),
            others in prop::collection::vec(slots(), 0..50),
        ) {
            let (mut set, mut naive) = (SparseSlots::default(), BTreeSet::new());
            for (kind, slot, mask) in steps {
                let (word, of_mask) = (word_of(slot), slots_of(word_of(slot), mask).collect::<Vec<_>>());
                match kind {
                    0..=2 => { set.insert(slot); naive.insert(slot); }
                    3 => { set.remove(slot); naive.remove(&slot); }
                    4 => { set.insert_mask(word, mask); naive.extend(of_mask); }
                    5 => { set.remove_mask(word, mask); of_mask.iter().for_each(|slot| _ = naive.remove(slot)); }
                    6 => { let some: Vec<u32> = naive.iter().copied().filter(|slot| slot % 3 > 0).collect();
                           some.iter().for_each(|slot| { set.remove(*slot); naive.remove(slot); }); }
                    _ => set.shrink(),
                }
                check(&set, &naive);
            }
            let mut dense = SlotSet::default();
            others.iter().for_each(|&slot| dense.insert(slot));
            prop_assert!(others.iter().all(|slot| set.contains(*slot) == naive.contains(slot)));
            prop_assert_eq!(set.contains_all(&dense), others.iter().all(|slot| naive.contains(slot)));
            let common: BTreeSet<u32> = others.iter().copied().filter(|slot| naive.contains(slot)).collect();
            prop_assert!(set.masks_in(&dense).flat_map(|(word, mask)| slots_of(word, mask)).eq(common));
            naive.iter().for_each(|&slot| dense.insert(slot));
            prop_assert!(set.masks_in(&dense).eq(set.masks()));
            set.clear();
            check(&set, &BTreeSet::new());
        }

        #[test]
        fn a_set_of_all_slots_but_one_lacks_only_this_one(
            end in 1..20_000_u32,
            absent in any::<u32>(),
            others in prop::collection::vec(any::<u32>(), 0..50),
        ) {
            let absent = absent % end;
            let (mut set, mut dense) = (SparseSlots::default(), SlotSet::default());
            (0..end).filter(|slot| *slot != absent).for_each(|slot| set.insert(slot));
            let others = others.iter().map(|slot| slot % end).filter(|slot| *slot != absent);
            others.for_each(|slot| dense.insert(slot));
            prop_assert!(set.contains_all(&dense));
            dense.insert(absent);
            prop_assert!(!set.contains_all(&dense));
        }
    }

    #[test]
    fn the_memory_follows_the_members() {
        let mut set = SparseSlots::default();
        (0..100).for_each(|number| set.insert(number * 9_999));
        set.shrink();
        assert!(set.words.capacity() <= 100 && set.blocks.capacity() <= 100);
        (0..100).for_each(|number| set.remove(number * 9_999));
        set.shrink();
        assert_eq!((set.words.capacity(), set.blocks.capacity()), (0, 0));
    }

    #[test]
    fn slots_that_come_and_go_move_no_other_words() {
        let mut set = SparseSlots::default();
        (0..100).for_each(|number| set.insert(number * 64));
        let before = set.words.len();
        for _ in 0..10 {
            set.remove(0);
            set.insert(0);
            assert_eq!((set.words.len(), set.words[0]), (before, 1));
        }
    }
}
