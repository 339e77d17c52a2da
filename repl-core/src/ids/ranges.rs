//! Sets of `u32`, such as element handles, as sorted ranges. Ranges suit arrays, because elements next to
//! each other change together.
//!
//! *Invariant:* ranges are sorted, not empty, and neither overlap nor touch.

use std::collections::VecDeque;
use std::ops::Range;

use crate::ids::identity::{IdQueue, IdSet};
use crate::ids::item_id::ItemId;

/// A set of `u32` as sorted ranges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ranges(Vec<Range<u32>>);

impl Ranges {
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.0.capacity() * size_of::<Range<u32>>()
    }

    pub(crate) fn as_slice(&self) -> &[Range<u32>] {
        &self.0
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + Clone {
        self.0.iter().cloned().flatten()
    }

    /// Adds one member. O(1) at the end, where comparisons add.
    pub(crate) fn insert(&mut self, member: u32) {
        self.insert_range(member..member + 1);
    }

    /// Adds a range. O(1) if it begins after the last member or directly behind it.
    pub(crate) fn insert_range(&mut self, range: Range<u32>) {
        match self.0.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            Some(last) if last.end > range.start => self.add(range),
            _ => self.0.push(range),
        }
    }

    /// Adds a range anywhere, and joins it with the ranges that it touches.
    fn add(&mut self, range: Range<u32>) {
        let first = self.0.partition_point(|known| known.end < range.start);
        let end = self.0.partition_point(|known| known.start <= range.end);
        match self.0.get(first..end) {
            Some([lowest, .., highest]) => {
                self.0[first] = lowest.start.min(range.start)..highest.end.max(range.end);
                self.0.drain(first + 1..end);
            }
            Some([touched]) => self.0[first] = touched.start.min(range.start)..touched.end.max(range.end),
            _ => self.0.insert(first, range),
        }
    }

    /// Adds a member anywhere.
    pub(crate) fn insert_anywhere(&mut self, member: u32) {
        self.add(member..member + 1);
    }

    pub(crate) fn contains(&self, member: u32) -> bool {
        let at = self.0.partition_point(|range| range.end <= member);
        self.0.get(at).is_some_and(|range| range.start <= member)
    }

    /// Returns the number of members.
    pub(crate) fn count(&self) -> usize {
        self.0.iter().map(|range| (range.end - range.start) as usize).sum()
    }

    /// Adds all members of `other`. Works in place if `other` has few ranges compared to this set, so that
    /// gathering many small lists into one does not copy it each time.
    pub(crate) fn union(&mut self, other: &Self) {
        if self.0.is_empty() {
            self.0.extend_from_slice(&other.0);
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
                (Some(_), None) => ours.next(),
                (None, None) => break,
            };
            let Some(next) = next else { break };
            match merged.last_mut() {
                Some(last) if last.end >= next.start => last.end = last.end.max(next.end),
                _ => merged.push(next.clone()),
            }
        }
        self.0 = merged;
    }

    pub(crate) fn subtract(&mut self, other: &Self) {
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
        self.0 = left;
    }

    /// Removes the members from `end` on.
    pub(crate) fn truncate(&mut self, end: u32) {
        while let Some(last) = self.0.last_mut() {
            if last.end <= end {
                break;
            }
            if last.start >= end {
                self.0.pop();
            } else {
                last.end = end;
            }
        }
    }
}

impl IdSet<ItemId> for Ranges {
    type Queue = RangeQueue;

    const CAN_BE_ALL: bool = false;

    /// All that a server may give; some of them no item has.
    fn all() -> Self {
        let mut all = Self::new();
        all.insert_range(ItemId::FIRST.number()..ItemId::FIRST_LOCAL.number());
        all
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
        self.is_empty()
    }

    fn count(&self) -> usize {
        self.count()
    }

    fn stretch_count(&self) -> usize {
        self.as_slice().len()
    }

    fn heap_bytes(&self) -> usize {
        self.heap_bytes()
    }

    fn contains(&self, id: &ItemId) -> bool {
        self.contains(id.number())
    }

    fn insert_anywhere(&mut self, id: ItemId) {
        self.insert_anywhere(id.number());
    }

    fn union(&mut self, other: &Self) {
        self.union(other);
    }

    fn subtract(&mut self, other: &Self) {
        self.subtract(other);
    }

    fn stretches(&self) -> impl DoubleEndedIterator<Item = (ItemId, ItemId)> {
        let ids = |first, end: u32| Some((ItemId::new(first)?, ItemId::new(end.saturating_sub(1))?));
        self.as_slice().iter().filter_map(move |range| ids(range.start, range.end))
    }

    fn iter(&self) -> impl Iterator<Item = ItemId> + Clone {
        self.iter().filter_map(ItemId::new)
    }
}

/// A set that is taken from its lowest member up.
#[derive(Clone, Debug, Default)]
pub(crate) struct RangeQueue {
    ranges: VecDeque<Range<u32>>,
    /// The number of members.
    len: usize,
}

impl From<Ranges> for RangeQueue {
    fn from(ranges: Ranges) -> Self {
        Self { len: ranges.count(), ranges: ranges.0.into() }
    }
}

impl From<RangeQueue> for Ranges {
    fn from(queue: RangeQueue) -> Self {
        Self(queue.ranges.into())
    }
}

impl IdQueue<ItemId, Ranges> for RangeQueue {
    fn len(&self) -> usize {
        self.len
    }

    fn is_all(&self) -> bool {
        false
    }

    fn heap_bytes(&self) -> usize {
        self.ranges.capacity() * size_of::<Range<u32>>()
    }

    fn contains(&self, id: &ItemId) -> bool {
        let member = id.number();
        let at = self.ranges.partition_point(|range| range.end <= member);
        self.ranges.get(at).is_some_and(|range| range.start <= member)
    }

    /// O(ranges) where there are any.
    fn exchange(&mut self, out: &Ranges, to: &Ranges) {
        if out.is_empty() && to.is_empty() {
            return;
        }
        let mut ranges = Ranges::from(std::mem::take(self));
        ranges.subtract(out);
        ranges.union(to);
        *self = ranges.into();
    }

    fn stretch_count(&self) -> usize {
        self.ranges.len()
    }

    fn first(&self, count: &mut usize) -> Ranges {
        let mut first = Vec::new();
        for range in &self.ranges {
            let take = (*count).min(range.len());
            if take == 0 {
                break;
            }
            first.push(range.start..range.start + take as u32);
            *count -= take;
        }
        Ranges(first)
    }

    fn skip(&mut self, count: &mut usize) {
        while let Some(range) = self.ranges.front_mut() {
            let take = (*count).min(range.len());
            range.start += take as u32;
            *count -= take;
            self.len -= take;
            if range.start < range.end {
                break;
            }
            self.ranges.pop_front();
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
        assert!(ranges.as_slice().iter().all(|range| range.start < range.end));
        assert!(ranges.as_slice().is_sorted_by(|a, b| a.end < b.start));
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
        fn what_is_taken_from_a_set_is_its_lowest_members(members in members(), count in 1..9_usize) {
            let mut queue = RangeQueue::from(ranges(&members));
            let mut left = members;
            while !left.is_empty() {
                let (mut of_part, mut of_skip) = (count, count);
                let part = checked(&queue.first(&mut of_part));
                queue.skip(&mut of_skip);
                prop_assert_eq!((of_part, of_skip), (count - part.len(), count - part.len()));
                let expected: BTreeSet<u32> = left.iter().take(count).copied().collect();
                left = &left - &expected;
                prop_assert_eq!(part, expected);
                prop_assert_eq!(queue.len(), left.len());
                prop_assert_eq!(&checked(&queue.clone().into()), &left);
            }
        }
    }
}
