//! Methods that move items of an ordered array: one item, several items in a row, or all items.
//!
//! *Invariant:* items that are moved keep their ids and values, so only labels are sent (S145).

use std::cmp::Ordering;
use std::ops::Range;

use repl_core::label::Hint;

use super::OrderedFastArray;
use crate::sequence::Key;

impl<T> OrderedFastArray<T> {
    /// Moves the item at `from` to the index `to`. The items between `from` and `to` shift by one position.
    /// Only the label of the moved item is sent.
    ///
    /// # Panics
    /// Panics if one of the two indices is not less than the length.
    #[track_caller]
    pub fn move_item(&mut self, from: usize, to: usize) {
        assert!(
            from.max(to) < self.items.len(),
            "no item goes from {from} to {to} among {}",
            self.items.len()
        );
        self.move_block(from..from + 1, to);
    }

    /// Swaps two items. The swapped items keep their ids. The new labels of both items are sent.
    ///
    /// # Panics
    /// Panics if one of the two indices is not less than the length.
    #[track_caller]
    pub fn swap(&mut self, one: usize, other: usize) {
        let (one, other) = (one.min(other), one.max(other));
        assert!(other < self.items.len(), "items {one} and {other} are not among {}", self.items.len());
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

    /// Reverses the order of the items. Costs O(n log n). Reversing sends a new label for each item, which
    /// takes about two bits.
    pub fn reverse(&mut self) {
        let mut keys = self.keys(0..self.items.len());
        keys.reverse();
        self.arrange(&keys);
    }

    /// Rotates the items to the left, so that the item at `mid` comes first. The method moves the smaller
    /// group: the items before `mid`, or the other items. Only the labels of the moved items are sent. Costs
    /// O(log n) for each moved item.
    ///
    /// # Panics
    /// Panics if `mid` is greater than the length.
    #[track_caller]
    pub fn rotate_left(&mut self, mid: usize) {
        let len = self.items.len();
        assert!(mid <= len, "{len} items are not rotated by {mid}");
        if mid <= len - mid {
            self.move_block(0..mid, len - mid);
        } else {
            self.move_block(mid..len, 0);
        }
    }

    /// Rotates the items to the right, so that the first item is at index `distance` afterwards. Costs the
    /// same as [`rotate_left`](Self::rotate_left).
    ///
    /// # Panics
    /// Panics if `distance` is greater than the length.
    #[track_caller]
    pub fn rotate_right(&mut self, distance: usize) {
        let len = self.items.len();
        assert!(distance <= len, "{len} items are not rotated by {distance}");
        self.rotate_left(len - distance);
    }

    /// Sorts the items in the order of `compare`. Items that compare as equal keep their order. Costs O(n log
    /// n). If at most half of the items have to move, usually only the labels of the moved items are sent.
    pub fn sort_by(&mut self, mut compare: impl FnMut(&T, &T) -> Ordering) {
        let mut keys = self.keys(0..self.items.len());
        keys.sort_by(|&one, &other| match (self.items.by_key(one), self.items.by_key(other)) {
            (Some(one), Some(other)) => compare(&one.item, &other.item),
            _ => Ordering::Equal,
        });
        self.arrange(&keys);
    }

    /// Sorts the items in the order of `compare`. `sort_unstable_by` may change the order of equal items.
    /// Currently equal items keep their order, because this moves the fewest items.
    pub fn sort_unstable_by(&mut self, compare: impl FnMut(&T, &T) -> Ordering) {
        self.sort_by(compare);
    }

    /// Reorders the items: the item at index `order[i]` moves to index `i`.
    pub(crate) fn reorder(&mut self, order: Vec<usize>) {
        let keys = self.keys(0..self.items.len());
        let keys: Vec<Key> = order.into_iter().map(|at| keys[at]).collect();
        self.arrange(&keys);
    }

    /// Moves the items at the indices `block` so that the first of them is at index `to` afterwards.
    fn move_block(&mut self, block: Range<usize>, to: usize) {
        if block.is_empty() || block.start == to {
            return;
        }
        let keys = self.keys(block.clone());
        let ahead = block.start.checked_sub(1).and_then(|at| self.items.key_at(at));
        for (step, &key) in keys.iter().enumerate() {
            self.notes_mut().runs.removed(key, || ahead);
            let index = if to > block.start { to + keys.len() - 1 } else { to + step };
            self.items.move_to(key, index);
        }
        let before = to.checked_sub(1).and_then(|at| self.items.key_at(at));
        let after = self.items.key_at(to + keys.len());
        let hint = self.notes_mut().runs.hint(before, after);
        self.label_anyway(to..to + keys.len(), hint);
        if let [key] = keys[..] {
            self.notes_mut().runs.inserted(before, after, key, 1);
        }
    }

    /// Puts the items into the order of their keys in `keys`, which contains each key once. The largest group
    /// of items that are already in the wanted order keep their labels.
    fn arrange(&mut self, keys: &[Key]) {
        let highest = keys.iter().map(|key| key.number()).max().unwrap_or(0);
        let mut indices = vec![0; highest + 1];
        self.items.keys_from(0).enumerate().for_each(|(index, key)| indices[key.number()] = index);
        let order: Vec<usize> = keys.iter().map(|key| indices[key.number()]).collect();
        if order.is_sorted() {
            return;
        }
        self.items.arrange(keys);
        self.notes_mut().runs.clear();
        let stays = longest_ascending(&order);
        let staying = stays.iter().filter(|&&stays| stays).count();
        if staying < order.len() / 2 {
            self.label_anyway(0..order.len(), Hint::NONE);
            return;
        }
        let mut at = 0;
        for group in stays.chunk_by(|one, other| one == other) {
            let indices = at..at + group.len();
            at = indices.end;
            if group.first() == Some(&false) && !self.label_within(indices, Hint::NONE) {
                self.label_anyway(0..order.len(), Hint::NONE);
                return;
            }
        }
    }
}

/// Finds a longest ascending subsequence of `order`. Returns for each number in `order` whether it belongs to
/// this subsequence. No number may occur twice in `order`. Costs O(n log n).
fn longest_ascending(order: &[usize]) -> Vec<bool> {
    // There may be several ascending subsequences with `len + 1` numbers. `ends[len]` is the position of the
    // lowest last number of all these. `before[at]` is the position of the number that precedes the number at
    // `at`, in a longest ascending subsequence that ends at `at`.
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
