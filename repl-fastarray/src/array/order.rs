//! Methods that change the order of a fast array: sorting, swapping and rotating.
//!
//! *Invariant:* a method that changes only the order marks no item (S145). When items change their order,
//! their ids move with them, and nothing is sent.

use std::cmp::Ordering;

use super::FastArray;

impl<T> FastArray<T> {
    /// Sorts the items in the order of `compare`. Items that compare as equal keep their order. Ids stay with
    /// their items, and nothing is sent. Costs O(n log n).
    pub fn sort_by(&mut self, mut compare: impl FnMut(&T, &T) -> Ordering) {
        let mut order: Vec<_> = (0..self.items.len()).collect();
        order.sort_by(|&one, &other| compare(&self.items[one], &self.items[other]));
        self.reorder(order);
    }

    /// Sorts the items in the order of `compare`. Equal items may change their order. Costs O(n log n).
    pub fn sort_unstable_by(&mut self, mut compare: impl FnMut(&T, &T) -> Ordering) {
        let mut order: Vec<_> = (0..self.items.len()).collect();
        order.sort_unstable_by(|&one, &other| compare(&self.items[one], &self.items[other]));
        self.reorder(order);
    }

    /// Swaps two items. The swapped items keep their ids. To exchange only the values of two items, swap the
    /// values through their [guards](Self::get_mut).
    ///
    /// # Panics
    /// Panics if one of the two indices is not less than the length.
    #[track_caller]
    pub fn swap(&mut self, one: usize, other: usize) {
        let len = self.items.len();
        assert!(one.max(other) < len, "items {one} and {other} are not among {len}");
        self.items.swap(one, other);
        self.item_ids.swap(one, other);
    }

    /// Reverses the order of the items.
    pub fn reverse(&mut self) {
        self.items.reverse();
        self.item_ids.reorder(<[_]>::reverse);
    }

    /// Rotates the items to the left, so that the item at `mid` comes first.
    ///
    /// # Panics
    /// Panics if `mid` is greater than the length.
    #[track_caller]
    pub fn rotate_left(&mut self, mid: usize) {
        self.items.rotate_left(mid);
        self.item_ids.reorder(|ids| ids.rotate_left(mid));
    }

    /// Rotates the items to the right, so that the first item is at index `distance` afterwards.
    ///
    /// # Panics
    /// Panics if `distance` is greater than the length.
    #[track_caller]
    pub fn rotate_right(&mut self, distance: usize) {
        self.items.rotate_right(distance);
        self.item_ids.reorder(|ids| ids.rotate_right(distance));
    }

    /// Reorders the items: the item at index `order[i]` moves to index `i`.
    pub(crate) fn reorder(&mut self, mut order: Vec<usize>) {
        if order.is_sorted() {
            return;
        }
        self.item_ids.reorder(|ids| {
            let picked: Vec<_> = order.iter().map(|&at| ids[at]).collect();
            ids.copy_from_slice(&picked);
        });
        for first in 0..order.len() {
            let mut at = first;
            loop {
                let from = std::mem::replace(&mut order[at], at);
                if from == first {
                    break;
                }
                self.items.swap(at, from);
                at = from;
            }
        }
    }
}
