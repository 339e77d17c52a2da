//! Methods that search an ordered array by value.
//!
//! *Invariant:* all methods of this file take `&self`, so a search by value never marks an item.

use std::cmp::Ordering;

use super::OrderedFastArray;

/// Binary searches work in the same way as on slices. Each binary search takes O(log n) comparisons and
/// O(log² n) steps.
impl<T> OrderedFastArray<T> {
    /// Returns whether an item is equal to `item`. Costs O(n).
    #[must_use]
    pub fn contains(&self, item: &T) -> bool
    where
        T: PartialEq,
    {
        self.iter().any(|other| other == item)
    }

    /// Searches a sorted array for `item`. Returns the index of the first item that is equal to `item`.
    ///
    /// # Errors
    /// Returns an error if no item is equal to `item`. The error contains the index where `item` could be
    /// inserted.
    pub fn binary_search(&self, item: &T) -> Result<usize, usize>
    where
        T: Ord,
    {
        self.binary_search_by(|other| other.cmp(item))
    }

    /// Searches an array that is sorted by a key. Returns the index of the first item with the key `wanted`.
    ///
    /// # Errors
    /// Returns an error if no item has this key. The error contains the index where an item with this key
    /// could be inserted.
    pub fn binary_search_by_key<K: Ord>(
        &self,
        wanted: &K,
        mut key: impl FnMut(&T) -> K,
    ) -> Result<usize, usize> {
        self.binary_search_by(|item| key(item).cmp(wanted))
    }

    /// Returns the index of the first item for which `compare` returns `Equal`. The array must be sorted so
    /// that `compare` returns `Less` for all items before the wanted item, and `Greater` for all items after
    /// it.
    ///
    /// # Errors
    /// Returns an error if `compare` returns `Equal` for no item. The error contains the index where an item
    /// for which `compare` returns `Equal` could be inserted.
    pub fn binary_search_by(&self, mut compare: impl FnMut(&T) -> Ordering) -> Result<usize, usize> {
        let at = self.partition_point(|item| compare(item) == Ordering::Less);
        match self.get(at) {
            Some(item) if compare(item) == Ordering::Equal => Ok(at),
            _ => Err(at),
        }
    }

    /// Returns how many items at the start of the array satisfy the condition `is_before`. All items that
    /// satisfy the condition must come before all other items.
    #[must_use]
    pub fn partition_point(&self, mut is_before: impl FnMut(&T) -> bool) -> usize {
        self.items.partition_point(|entry| is_before(&entry.item))
    }
}
