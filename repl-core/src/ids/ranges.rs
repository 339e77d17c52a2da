//! Sets of `u32`, such as element handles, as sorted ranges. Ranges suit arrays, because neighbouring
//! elements often change together.
//!
//! *Invariant:* ranges are sorted, not empty, and neither overlap nor touch.

use std::collections::VecDeque;
use std::ops::Range;

use crate::ids::identity::IdSet;
use crate::ids::item_id::ItemId;

/// A set of `u32`, stored as sorted ranges. The ranges are in a queue, so the cost of removing members at the
/// start depends only on the number of removed ranges.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Ranges(VecDeque<Range<u32>>);

impl Clone for Ranges {
    /// Copies the ranges as slices, which is faster than the derived implementation, which copies them one by
    /// one.
    fn clone(&self) -> Self {
        let (first, second) = self.0.as_slices();
        Self([first, second].concat().into())
    }

    fn clone_from(&mut self, other: &Self) {
        self.0.clear();
        self.0.extend(other.0.iter().cloned());
    }
}

impl Ranges {
    pub(crate) const fn new() -> Self {
        Self(VecDeque::new())
    }

    pub(crate) fn ranges(&self) -> impl Iterator<Item = &Range<u32>> {
        self.0.iter()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + Clone {
        self.0.iter().cloned().flatten()
    }

    /// Adds one number to the set. Costs O(1) if the number is greater than all members. A comparison adds
    /// its results in ascending order, so it always adds at the end.
    pub(crate) fn insert(&mut self, member: u32) {
        match self.0.back_mut() {
            Some(last) if last.end == member => last.end += 1,
            Some(last) if last.end > member => self.add(member..member + 1),
            _ => self.0.push_back(member..member + 1),
        }
    }

    /// Adds a range at any position of the set, and joins it with the ranges that it touches.
    fn add(&mut self, range: Range<u32>) {
        let first = self.0.partition_point(|known| known.end < range.start);
        let end = self.0.partition_point(|known| known.start <= range.end);
        if first == end {
            self.0.insert(first, range);
            return;
        }
        self.0[first] = self.0[first].start.min(range.start)..self.0[end - 1].end.max(range.end);
        self.0.drain(first + 1..end);
    }

    /// Removes the members below `start`.
    pub(crate) fn remove_below(&mut self, start: u32) {
        while let Some(first) = self.0.front_mut() {
            if first.start >= start {
                break;
            }
            if first.end <= start {
                self.0.pop_front();
            } else {
                first.start = start;
            }
        }
    }

    /// Removes the members that are at least `end`.
    pub(crate) fn truncate(&mut self, end: u32) {
        while let Some(last) = self.0.back_mut() {
            if last.end <= end {
                break;
            }
            if last.start >= end {
                self.0.pop_back();
            } else {
                last.end = end;
            }
        }
    }
}

impl IdSet<ItemId> for Ranges {
    const CAN_BE_ALL: bool = false;

    /// Returns the set of all ids that a server may use, including ids without items.
    fn all() -> Self {
        Self(std::iter::once(ItemId::FIRST.number()..ItemId::FIRST_LOCAL.number()).collect())
    }

    fn is_all(&self) -> bool {
        false
    }

    fn of(ascending: impl Iterator<Item = ItemId>) -> Self {
        let mut ranges = Self::new();
        ascending.for_each(|id| ranges.insert(id.number()));
        ranges
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn count(&self) -> usize {
        self.0.iter().map(Range::len).sum()
    }

    fn stretch_count(&self) -> usize {
        self.0.len()
    }

    fn heap_bytes(&self) -> usize {
        self.0.capacity() * size_of::<Range<u32>>()
    }

    fn contains(&self, id: &ItemId) -> bool {
        let at = self.0.partition_point(|range| range.end <= id.number());
        self.0.get(at).is_some_and(|range| range.start <= id.number())
    }

    fn insert_anywhere(&mut self, id: ItemId) {
        self.add(id.number()..id.number() + 1);
    }

    /// Works in place if `other` has few ranges compared with this set. Because of this, merging many small
    /// lists into one long list does not copy the long list each time.
    fn union(&mut self, other: &Self) {
        if self.0.is_empty() {
            self.clone_from(other);
            return;
        }
        if other.0.len() <= 2 + self.0.len() / 16 {
            other.0.iter().cloned().for_each(|range| self.add(range));
            return;
        }
        let mut merged: Vec<Range<u32>> = Vec::with_capacity(self.0.len() + other.0.len());
        let (mut ours, mut theirs) = (self.0.iter().peekable(), other.0.iter().peekable());
        loop {
            let next = match (ours.peek(), theirs.peek()) {
                (Some(a), Some(b)) if a.start <= b.start => ours.next(),
                (_, Some(_)) => theirs.next(),
                (_, None) => ours.next(),
            };
            let Some(next) = next else { break };
            match merged.last_mut() {
                Some(last) if last.end >= next.start => last.end = last.end.max(next.end),
                _ => merged.push(next.clone()),
            }
        }
        self.0 = merged.into();
    }

    fn subtract(&mut self, other: &Self) {
        if self.0.is_empty() || other.0.is_empty() {
            return;
        }
        let mut left = Vec::with_capacity(self.0.len());
        let mut holes = other.0.iter().peekable();
        for range in &self.0 {
            let mut start = range.start;
            while let Some(hole) = holes.peek() {
                if hole.end <= start {
                    holes.next();
                    continue;
                }
                if hole.start >= range.end {
                    break;
                }
                if hole.start > start {
                    left.push(start..hole.start);
                }
                start = hole.end;
                if start >= range.end {
                    break;
                }
            }
            if start < range.end {
                left.push(start..range.end);
            }
        }
        self.0 = left.into();
    }

    fn stretches(&self) -> impl DoubleEndedIterator<Item = (ItemId, ItemId)> {
        let ids = |first, end: u32| Some((ItemId::new(first)?, ItemId::new(end.saturating_sub(1))?));
        self.0.iter().filter_map(move |range| ids(range.start, range.end))
    }

    fn iter(&self) -> impl Iterator<Item = ItemId> + Clone {
        self.iter().filter_map(ItemId::new)
    }

    fn first(&self, count: usize) -> Self {
        let mut left = count;
        let ranges = self.0.iter().map_while(|range| {
            let taken = left.min(range.len());
            left -= taken;
            (taken > 0).then(|| range.start..range.start + taken as u32)
        });
        Self(ranges.collect())
    }

    fn skip(&mut self, count: usize) {
        let mut left = count;
        while let Some(range) = self.0.front_mut() {
            let skipped = left.min(range.len());
            range.start += skipped as u32;
            left -= skipped;
            if range.start < range.end {
                break;
            }
            self.0.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn members() -> impl Strategy<Value = BTreeSet<u32>> {
        prop::collection::btree_set(0..60_u32, 0..40)
    }

    fn ranges(members: &BTreeSet<u32>) -> Ranges {
        let mut ranges = Ranges::new();
        members.iter().for_each(|&member| ranges.insert(member));
        ranges
    }

    /// Returns the members, after checking that the ranges are sorted, not empty, and neither overlap nor
    /// touch.
    fn checked(ranges: &Ranges) -> BTreeSet<u32> {
        assert!(ranges.ranges().all(|range| range.start < range.end));
        assert!(ranges.ranges().is_sorted_by(|a, b| a.end < b.start));
        ranges.iter().collect()
    }

    proptest! {
        #[test]
        fn ranges_are_sets(one in members(), other in members(), end in 0..60_u32, last in 0..60_u32) {
            prop_assert_eq!(&checked(&ranges(&one)), &one);
            let mut union = ranges(&one);
            union.union(&ranges(&other));
            prop_assert_eq!(checked(&union), &one | &other);
            let mut difference = ranges(&one);
            difference.subtract(&ranges(&other));
            prop_assert_eq!(checked(&difference), &one - &other);
            let mut cut = ranges(&one);
            cut.truncate(end);
            prop_assert_eq!(checked(&cut), one.range(..end).copied().collect());
            let mut added = ranges(&one);
            added.insert(last);
            prop_assert_eq!(checked(&added), &one | &BTreeSet::from([last]));
        }

        #[test]
        fn the_lowest_members_are_taken_from_a_set(members in members(), count in 1..9_usize) {
            let mut queue = ranges(&members);
            let mut left = members;
            while !left.is_empty() {
                let part = checked(&queue.first(count));
                queue.skip(count);
                let expected: BTreeSet<u32> = left.iter().take(count).copied().collect();
                left = &left - &expected;
                prop_assert_eq!(part, expected);
                prop_assert_eq!(queue.count(), left.len());
                prop_assert_eq!(&checked(&queue), &left);
            }
        }
    }
}
