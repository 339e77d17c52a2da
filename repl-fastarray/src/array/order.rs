//! The order of an array: sorting, swapping, rotating.
//!
//! Invariant: nothing here touches an item (S145): ids go where their items go, and no client is told.

use std::cmp::Ordering;

use super::FastArray;

impl<T> FastArray<T> {
    /// Sorts the items by `compare`, equal ones in the order they had. Ids stay with their items, and nothing is sent. O(n log n).
    pub fn sort_by(&mut self, mut compare: impl FnMut(&T, &T) -> Ordering) {
        let mut order: Vec<_> = (0..self.items.len()).collect();
        order.sort_by(|&one, &other| compare(&self.items[one], &self.items[other]));
        self.reorder(order);
    }

    /// Sorts the items by `compare`, equal ones in any order. O(n log n).
    pub fn sort_unstable_by(&mut self, mut compare: impl FnMut(&T, &T) -> Ordering) {
        let mut order: Vec<_> = (0..self.items.len()).collect();
        order.sort_unstable_by(|&one, &other| compare(&self.items[one], &self.items[other]));
        self.reorder(order);
    }

    /// Swaps two items with their ids: both are the items they were, elsewhere. To give two items each other's values, swap what their
    /// [guards](Self::get_mut) stand for.
    ///
    /// # Panics
    /// If one of the two is not below the length.
    #[track_caller]
    pub fn swap(&mut self, one: usize, other: usize) {
        let len = self.len();
        assert!(one.max(other) < len, "items {one} and {other} are not among {len}");
        self.items.swap(one, other);
        self.roster.swap(one, other);
    }

    /// Turns the order round.
    pub fn reverse(&mut self) {
        self.items.reverse();
        self.roster.reorder(<[_]>::reverse);
    }

    /// Rotates the items so that the one at `mid` comes first.
    ///
    /// # Panics
    /// If `mid` is beyond the length.
    #[track_caller]
    pub fn rotate_left(&mut self, mid: usize) {
        self.items.rotate_left(mid);
        self.roster.reorder(|ids| ids.rotate_left(mid));
    }

    /// Rotates the items so that the first comes to stand at `places`.
    ///
    /// # Panics
    /// If `places` is beyond the length.
    #[track_caller]
    pub fn rotate_right(&mut self, places: usize) {
        self.items.rotate_right(places);
        self.roster.reorder(|ids| ids.rotate_right(places));
    }

    /// Puts at each place the item that stands at the index `order` has there.
    pub(crate) fn reorder(&mut self, mut order: Vec<usize>) {
        if order.is_sorted() {
            return;
        }
        self.roster.reorder(|ids| {
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
