//! Sets of handles (numbers of properties) of an object, as bit masks. The first 64 bits of a set are stored
//! in the set itself, without an allocation.
//!
//! *Invariant:* two sets that differ only in zero words at the end of `rest` are equal and have the same
//! hash.

use std::hash::{Hash, Hasher};

use thin_vec::ThinVec;

/// A set of handles of one level: of an object, or of an element of an array or collection. Handles are
/// counted from one. Sets of handles up to 64 allocate nothing, and take 16 bytes.
#[derive(Debug, Default)]
pub struct HandleSet {
    first: u64,
    rest: ThinVec<u64>,
}

/// Most sets consist of one word, so this case needs no function call.
impl Clone for HandleSet {
    #[inline]
    fn clone(&self) -> Self {
        let rest = if self.rest.is_empty() { ThinVec::new() } else { self.rest.clone() };
        Self { first: self.first, rest }
    }

    #[inline]
    fn clone_from(&mut self, other: &Self) {
        self.first = other.first;
        if !(self.rest.is_empty() && other.rest.is_empty()) {
            // `ThinVec::clone_from` would allocate.
            self.rest.clear();
            self.rest.extend_from_slice(&other.rest);
        }
    }
}

impl PartialEq for HandleSet {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        let are_small = self.rest.is_empty() && other.rest.is_empty();
        self.first == other.first && (are_small || self.has_same_rest(other))
    }
}

impl Eq for HandleSet {}

impl Hash for HandleSet {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let words = self.rest.iter().rposition(|&word| word != 0).map_or(0, |last| last + 1);
        self.first.hash(state);
        self.rest.iter().take(words).for_each(|word| word.hash(state));
    }
}

impl HandleSet {
    /// Returns an empty set.
    #[must_use]
    pub const fn new() -> Self {
        Self { first: 0, rest: ThinVec::new() }
    }

    /// Returns the set of all handles from one to `count`.
    #[must_use]
    pub fn up_to(count: u32) -> Self {
        let mut set = Self::new();
        for word in 0..count.div_ceil(64) {
            set.insert_word(word as usize, u64::MAX >> (64 - (count - word * 64).min(64)));
        }
        set
    }

    /// Returns whether both sets contain the same handles above 64.
    // This function is not inlined, so that the code for small sets stays short.
    #[inline(never)]
    fn has_same_rest(&self, other: &Self) -> bool {
        (1..self.words().max(other.words())).all(|at| self.word(at) == other.word(at))
    }

    /// Returns how many bytes the set has on the heap.
    #[inline]
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.rest.capacity() * size_of::<u64>()
    }

    /// Returns the handles from 1 to 64 as bits. The lowest bit stands for the handle 1.
    #[inline]
    #[must_use]
    pub fn first_word(&self) -> u64 {
        self.first
    }

    /// Returns whether the set stores only its first word: the handles up to 64.
    #[inline]
    pub(crate) fn is_one_word(&self) -> bool {
        self.rest.is_empty()
    }

    /// Returns the members among the 64 handles of the word with the index `at`, as a bit mask.
    #[inline]
    pub(crate) fn word(&self, at: usize) -> u64 {
        match at.checked_sub(1) {
            None => self.first,
            Some(at) => self.rest.get(at).copied().unwrap_or(0),
        }
    }

    #[inline]
    fn words(&self) -> usize {
        1 + self.rest.len()
    }

    fn word_mut(&mut self, at: usize) -> &mut u64 {
        match at.checked_sub(1) {
            None => &mut self.first,
            Some(at) => {
                if self.rest.len() <= at {
                    self.rest.resize(at + 1, 0);
                }
                &mut self.rest[at]
            }
        }
    }

    /// Adds `handle`, which is at least one.
    #[inline]
    pub fn insert(&mut self, handle: u32) {
        debug_assert!(handle > 0, "handles are counted from one");
        let bit = handle - 1;
        if bit < 64 {
            self.first |= 1 << bit;
        } else {
            *self.word_mut((bit / 64) as usize) |= 1 << (bit % 64);
        }
    }

    /// Adds `count` handles from `first` on. If all these handles are below 65, this takes the same time as
    /// adding one handle.
    #[inline]
    pub(crate) fn insert_stretch(&mut self, first: u32, count: u32) {
        match low_stretch(first, count) {
            Some(mask) => self.first |= mask,
            None => (first..first + count).for_each(|handle| self.insert(handle)),
        }
    }

    /// Returns whether any of `count` handles from `first` on is a member.
    #[inline]
    pub(crate) fn has_any(&self, first: u32, count: u32) -> bool {
        match low_stretch(first, count) {
            Some(mask) => self.first & mask != 0,
            None => (first..first + count).any(|handle| self.contains(handle)),
        }
    }

    /// Adds the handles with a set bit in `mask`. The lowest bit of `mask` stands for the first handle of the
    /// word of 64 handles with the index `word`.
    #[inline]
    pub(crate) fn insert_word(&mut self, word: usize, mask: u64) {
        if word == 0 {
            self.first |= mask;
        } else if mask != 0 {
            *self.word_mut(word) |= mask;
        }
    }

    /// Returns the words of the set, up to the word with the handle `count`. A word is the bit mask of 64
    /// handles. The last word may contain bits of handles above `count`.
    pub(crate) fn words_up_to(&self, count: u32) -> impl Iterator<Item = u64> {
        (0..count.div_ceil(64) as usize).map(|at| self.word(at))
    }

    /// Returns the highest handle in the set, or zero if the set is empty.
    #[inline(never)]
    pub(crate) fn last(&self) -> u32 {
        let word = (0..self.words()).rev().find(|&at| self.word(at) != 0);
        word.map_or(0, |at| at as u32 * 64 + 64 - self.word(at).leading_zeros())
    }

    /// Removes `handle`. Does nothing if `handle` is not a member, or is 0.
    pub fn remove(&mut self, handle: u32) {
        let bit = handle.wrapping_sub(1);
        if ((bit / 64) as usize) < self.words() {
            *self.word_mut((bit / 64) as usize) &= !(1 << (bit % 64));
        }
    }

    /// Returns whether `handle` is a member.
    #[inline]
    #[must_use]
    pub fn contains(&self, handle: u32) -> bool {
        let bit = handle.wrapping_sub(1);
        self.word((bit / 64) as usize) >> (bit % 64) & 1 == 1
    }

    /// Returns whether the set is empty.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.first == 0 && (self.rest.is_empty() || self.last() == 0)
    }

    /// Returns the number of members.
    #[inline]
    #[must_use]
    pub fn len(&self) -> u32 {
        self.first.count_ones() + self.rest.iter().map(|word| word.count_ones()).sum::<u32>()
    }

    /// Removes all members and keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.first = 0;
        // Most sets consist of one word, so this case needs no function call.
        if !self.rest.is_empty() {
            self.rest.clear();
        }
    }

    /// Adds the members of `other`.
    #[inline]
    pub fn union(&mut self, other: &Self) {
        self.first |= other.first;
        for at in 1..other.words() {
            *self.word_mut(at) |= other.word(at);
        }
    }

    /// Removes all members that are not in `other`.
    #[inline]
    pub fn intersect(&mut self, other: &Self) {
        self.first &= other.first;
        for (at, word) in self.rest.iter_mut().enumerate() {
            *word &= other.word(at + 1);
        }
    }

    /// Removes the members of `other`.
    #[inline]
    pub fn difference(&mut self, other: &Self) {
        self.first &= !other.first;
        for (at, word) in self.rest.iter_mut().enumerate() {
            *word &= !other.word(at + 1);
        }
    }

    /// Removes the members of `other` that are in this set, and adds the members of `other` that are not in
    /// this set.
    pub fn symmetric_difference(&mut self, other: &Self) {
        self.first ^= other.first;
        for at in 1..other.words() {
            *self.word_mut(at) ^= other.word(at);
        }
    }

    /// Returns whether every member is in `other`.
    #[inline]
    #[must_use]
    pub fn is_subset(&self, other: &Self) -> bool {
        if self.rest.is_empty() {
            return self.first & !other.first == 0;
        }
        (0..self.words()).all(|at| self.word(at) & !other.word(at) == 0)
    }

    /// Returns whether any member is also in `other`.
    #[inline]
    #[must_use]
    pub fn intersects(&self, other: &Self) -> bool {
        self.first & other.first != 0 || (1..self.words()).any(|at| self.word(at) & other.word(at) != 0)
    }

    /// Removes the members that are also in `other`, except those for which `keep` returns true.
    pub(crate) fn difference_unless(&mut self, other: &Self, keep: impl Fn(u32) -> bool) {
        for at in 0..self.words() {
            let word = self.word(at) & other.word(at);
            let both = Members { word, base: at as u32 * 64 + 1, rest: [].iter() };
            for handle in both.filter(|&handle| !keep(handle)) {
                self.remove(handle);
            }
        }
    }

    /// Returns the stretches of consecutive members in ascending order: the first member of each, and how
    /// many members it has. Two stretches may follow each other without a gap.
    #[inline]
    pub(crate) fn stretches(&self) -> impl Iterator<Item = (u32, u32)> {
        let (mut word, mut base, mut rest) = (self.first, 1, self.rest.iter());
        std::iter::from_fn(move || {
            while word == 0 {
                word = *rest.next()?;
                base += 64;
            }
            let start = word.trailing_zeros();
            let count = (word >> start).trailing_ones();
            // Adding the lowest bit carries through all bits of the stretch.
            word &= word.wrapping_add(1 << start);
            Some((base + start, count))
        })
    }

    /// Returns the members in ascending order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        Members { word: self.first, base: 1, rest: self.rest.iter() }
    }
}

/// Returns the bits of `count` handles from `first` on, as a mask for the first word of a set. Returns `None`
/// if any of these handles is outside the first word, or if `count` is zero.
#[inline]
const fn low_stretch(first: u32, count: u32) -> Option<u64> {
    if count == 0 || first + count > 65 {
        return None;
    }
    Some(u64::MAX >> (64 - count) << (first - 1))
}

impl FromIterator<u32> for HandleSet {
    fn from_iter<H: IntoIterator<Item = u32>>(handles: H) -> Self {
        let mut set = Self::new();
        handles.into_iter().for_each(|handle| set.insert(handle));
        set
    }
}

/// An iterator over the remaining members in one word, and over the members in the words after it.
struct Members<'a> {
    word: u64,
    base: u32,
    rest: std::slice::Iter<'a, u64>,
}

impl Iterator for Members<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        while self.word == 0 {
            self.word = *self.rest.next()?;
            self.base += 64;
        }
        let bit = self.word.trailing_zeros();
        self.word &= self.word - 1;
        Some(self.base + bit)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, HashSet};

    use proptest::prelude::*;

    use super::*;

    fn members() -> impl Strategy<Value = BTreeSet<u32>> {
        prop::collection::btree_set(prop_oneof![1..70_u32, 1..300_u32], 0..40)
    }

    fn set(members: &BTreeSet<u32>) -> HandleSet {
        members.iter().copied().collect()
    }

    #[test]
    fn zero_is_never_a_member() {
        let mut handles = HandleSet::up_to(200);
        handles.remove(0);
        assert!(!handles.contains(0));
        assert_eq!(handles, HandleSet::up_to(200));
    }

    proptest! {
        #[test]
        fn handle_sets_are_sets(one in members(), other in members(), kept in members()) {
            let (ours, theirs) = (set(&one), set(&other));
            let of = |change: &dyn Fn(&mut HandleSet)| {
                let mut set = ours.clone();
                change(&mut set);
                set.iter().collect::<BTreeSet<_>>()
            };
            prop_assert_eq!(of(&|_| {}), one.clone());
            prop_assert_eq!(of(&|set| set.union(&theirs)), &one | &other);
            prop_assert_eq!(of(&|set| set.intersect(&theirs)), &one & &other);
            prop_assert_eq!(of(&|set| set.difference(&theirs)), &one - &other);
            prop_assert_eq!(of(&|set| set.symmetric_difference(&theirs)), &one ^ &other);
            let gone = &other - &kept;
            prop_assert_eq!(of(&|set| set.difference_unless(&theirs, |handle| kept.contains(&handle))), &one - &gone);
            prop_assert_eq!(of(&|set| other.iter().for_each(|&handle| set.remove(handle))), &one - &other);
            prop_assert_eq!(ours.len() as usize, one.len());
            let stretched = ours.stretches().flat_map(|(first, count)| first..first + count);
            prop_assert_eq!(stretched.collect::<Vec<_>>(), ours.iter().collect::<Vec<_>>());
            let mut again = HandleSet::new();
            ours.stretches().for_each(|(first, count)| again.insert_stretch(first, count));
            prop_assert_eq!(&again, &ours);
            prop_assert_eq!(ours.is_empty(), one.is_empty());
            prop_assert_eq!(ours.is_subset(&theirs), one.is_subset(&other));
            prop_assert_eq!(ours.intersects(&theirs), !one.is_disjoint(&other));
            prop_assert_eq!(ours == theirs, one == other);
            prop_assert!((0..400).all(|handle| ours.contains(handle) == one.contains(&handle)));
        }

        #[test]
        fn stretches_are_added_and_found_like_single_handles(
            known in members(),
            first in 1..140_u32,
            count in 0..70_u32,
        ) {
            let (known, stretch) = (set(&known), (first..first + count).collect::<HandleSet>());
            prop_assert_eq!(known.has_any(first, count), known.intersects(&stretch));
            let mut joined = known.clone();
            joined.insert_stretch(first, count);
            let mut expected = known;
            expected.union(&stretch);
            prop_assert_eq!(joined, expected);
        }

        #[test]
        fn a_set_up_to_a_count_has_all_handles(count in prop_oneof![0..300_u32, 60..70_u32]) {
            prop_assert_eq!(HandleSet::up_to(count), (1..=count).collect());
            prop_assert_eq!(HandleSet::up_to(count).heap_bytes() > 0, count > 64);
        }

        #[test]
        fn equal_sets_have_equal_hashes_whatever_they_held(one in members(), other in members()) {
            let mut shrunk = set(&(&one | &other));
            (&other - &one).iter().for_each(|&handle| shrunk.remove(handle));
            prop_assert!(HashSet::from([shrunk]).contains(&set(&one)));
        }
    }
}
