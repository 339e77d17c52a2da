//! Looking for items by what they are.
//!
//! Invariant: nothing here changes an array.

use std::cmp::Ordering;

use super::OrderedFastArray;

/// Binary searches are those of slices, in O(log n) questions and O(log n) steps beside them.
impl<T> OrderedFastArray<T> {
    /// Whether an item is equal to `item`. O(n).
    #[must_use]
    pub fn contains(&self, item: &T) -> bool
    where
        T: PartialEq,
    {
        self.iter().any(|other| other == item)
    }

    /// Where an item stands that is equal to `item`, in a sorted array; or else where it could be inserted.
    ///
    /// # Errors
    /// If there is none: the place where it could be inserted.
    pub fn binary_search(&self, item: &T) -> Result<usize, usize>
    where
        T: Ord,
    {
        self.binary_search_by(|other| other.cmp(item))
    }

    /// The first place where an item stands that has this key, in an array that is sorted by it.
    ///
    /// # Errors
    /// If there is none: the place where it could be inserted.
    pub fn binary_search_by_key<K: Ord>(
        &self,
        wanted: &K,
        mut key: impl FnMut(&T) -> K,
    ) -> Result<usize, usize> {
        self.binary_search_by(|item| key(item).cmp(wanted))
    }

    /// The first place where an item stands for which `compare` says `Equal`, in an array in which it says `Less` of those before and `Greater`
    /// of those behind.
    ///
    /// # Errors
    /// If there is none: the place where it could be inserted.
    pub fn binary_search_by(&self, mut compare: impl FnMut(&T) -> Ordering) -> Result<usize, usize> {
        let at = self.partition_point(|item| compare(item) == Ordering::Less);
        match self.get(at) {
            Some(item) if compare(item) == Ordering::Equal => Ok(at),
            _ => Err(at),
        }
    }

    /// How many items from the first on have `is_before`, in an array in which all those that have it stand before those that do not.
    #[must_use]
    pub fn partition_point(&self, mut is_before: impl FnMut(&T) -> bool) -> usize {
        self.items.partition_point(|entry| is_before(&entry.item))
    }
}
