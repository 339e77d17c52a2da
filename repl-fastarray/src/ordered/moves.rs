//! Moving items: one, some, or all of them.
//!
//! Invariant: items keep their ids and values, so that only labels are sent (S145), and of as few items as the move needs.

use std::cmp::Ordering;
use std::ops::Range;

use repl_core::label::Hint;

use super::OrderedFastArray;
use crate::sequence::Key;

impl<T> OrderedFastArray<T> {
    /// Moves the item at `from` so that it stands at `to`; those between close up. Clients are sent its label alone.
    ///
    /// # Panics
    /// If one of the two is not below the length.
    #[track_caller]
    pub fn move_item(&mut self, from: usize, to: usize) {
        assert!(from.max(to) < self.len(), "no item goes from {from} to {to} among {}", self.len());
        self.move_block(from..from + 1, to);
    }

    /// Swaps two items with their ids: both are the items they were, elsewhere. Clients are sent two labels.
    ///
    /// # Panics
    /// If one of the two is not below the length.
    #[track_caller]
    pub fn swap(&mut self, one: usize, other: usize) {
        let (one, other) = (one.min(other), one.max(other));
        assert!(other < self.len(), "items {one} and {other} are not among {}", self.len());
        let (Some(first), Some(second)) = (self.items.key_at(one), self.items.key_at(other)) else { return };
        if one == other {
            return;
        }
        self.items.move_to(second, one);
        self.items.move_to(first, other);
        if let (Some(one), Some(other)) = (self.label_of(Some(first)), self.label_of(Some(second))) {
            let (one, other) = (one.clone(), other.clone());
            self.give(first, other);
            self.give(second, one);
        }
    }

    /// Turns the order round. O(n log n); clients are sent labels in about two bits each.
    pub fn reverse(&mut self) {
        let mut keys = self.keys(0..self.len());
        keys.reverse();
        self.arrange(&keys);
    }

    /// Rotates the items so that the one at `mid` comes first. O(log n) for each of the items before it or behind, whichever are fewer; only
    /// their labels are sent.
    ///
    /// # Panics
    /// If `mid` is beyond the length.
    #[track_caller]
    pub fn rotate_left(&mut self, mid: usize) {
        let len = self.len();
        assert!(mid <= len, "{len} items are not rotated by {mid}");
        if mid <= len - mid {
            self.move_block(0..mid, len - mid);
        } else {
            self.move_block(mid..len, 0);
        }
    }

    /// Rotates the items so that the first comes to stand at `places`. Costs what [`rotate_left`](Self::rotate_left) costs.
    ///
    /// # Panics
    /// If `places` is beyond the length.
    #[track_caller]
    pub fn rotate_right(&mut self, places: usize) {
        let len = self.len();
        assert!(places <= len, "{len} items are not rotated by {places}");
        self.rotate_left(len - places);
    }

    /// Sorts the items by `compare`, equal ones in the order they had. O(n log n); labels are sent of as few items as had to move.
    pub fn sort_by(&mut self, mut compare: impl FnMut(&T, &T) -> Ordering) {
        let mut keys = self.keys(0..self.len());
        keys.sort_by(|&one, &other| match (self.items.by_key(one), self.items.by_key(other)) {
            (Some(one), Some(other)) => compare(&one.item, &other.item),
            _ => Ordering::Equal,
        });
        self.arrange(&keys);
    }

    /// Sorts the items by `compare`, equal ones in any order: here in the order they had, for that moves the fewest.
    pub fn sort_unstable_by(&mut self, compare: impl FnMut(&T, &T) -> Ordering) {
        self.sort_by(compare);
    }

    /// Puts at each place the item that stands at the index `order` has there.
    pub(crate) fn reorder(&mut self, order: Vec<usize>) {
        let keys = self.keys(0..self.len());
        let keys: Vec<Key> = order.into_iter().map(|at| keys[at]).collect();
        self.arrange(&keys);
    }

    /// Moves the items of a block so that the first of them stands at `to`; all places are those after the move.
    fn move_block(&mut self, block: Range<usize>, to: usize) {
        if block.is_empty() || block.start == to {
            return;
        }
        let keys = self.keys(block.clone());
        let ahead = block.start.checked_sub(1).and_then(|at| self.items.key_at(at));
        for (step, &key) in keys.iter().enumerate() {
            self.runs.removed(key, || ahead);
            let place = if to > block.start { to + keys.len() - 1 } else { to + step };
            self.items.move_to(key, place);
        }
        let before = to.checked_sub(1).and_then(|at| self.items.key_at(at));
        let after = self.items.key_at(to + keys.len());
        let hint = self.runs.hint(before, after);
        self.label_anyway(to..to + keys.len(), hint);
        if let [key] = keys[..] {
            self.runs.inserted(before, after, key, 1);
        }
    }

    /// Puts the items into the order of `keys`, which are all of them. Those keep their labels that are most and in order already.
    fn arrange(&mut self, keys: &[Key]) {
        let highest = keys.iter().map(|key| key.number()).max().unwrap_or(0);
        let mut places = vec![0; highest + 1];
        self.items.keys_from(0).enumerate().for_each(|(place, key)| places[key.number()] = place);
        let order: Vec<usize> = keys.iter().map(|key| places[key.number()]).collect();
        if order.is_sorted() {
            return;
        }
        self.items.arrange(keys);
        self.runs.clear();
        let stays = longest_ascent(&order);
        let staying = stays.iter().filter(|&&stays| stays).count();
        if staying < order.len() / 2 {
            self.label_anyway(0..order.len(), Hint::NONE);
            return;
        }
        let mut at = 0;
        for group in stays.chunk_by(|one, other| one == other) {
            let places = at..at + group.len();
            at = places.end;
            if group.first() == Some(&false) && !self.label_within(places, Hint::NONE) {
                self.label_anyway(0..order.len(), Hint::NONE);
                return;
            }
        }
    }
}

/// Which members of a longest ascending subsequence of `order` are. No number stands twice in it. O(n log n).
fn longest_ascent(order: &[usize]) -> Vec<bool> {
    // For each length, where the ascent of this length ends that ends lowest, and for each member which one is before it.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(order.len());
    for (at, number) in order.iter().enumerate() {
        let len = ends.partition_point(|&end| order[end] < *number);
        before.push(len.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(len) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut is_member = vec![false; order.len()];
    let mut last = ends.last().copied();
    while let Some(at) = last {
        is_member[at] = true;
        last = before[at];
    }
    is_member
}
