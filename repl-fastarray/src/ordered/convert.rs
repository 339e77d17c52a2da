//! What an ordered array is read as and turned into: its items.
//!
//! Invariant: whoever reads, or takes all items out, sees them in their order.

use std::fmt;

use super::{Entry, OrderedFastArray};
use crate::sequence;

impl<T> From<OrderedFastArray<T>> for Vec<T> {
    fn from(array: OrderedFastArray<T>) -> Self {
        array.into_iter().collect()
    }
}

/// The items of an ordered array, taken out in their order.
pub struct IntoIter<T>(std::vec::IntoIter<Entry<T>>);

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.next().map(|entry| entry.item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<T> DoubleEndedIterator for IntoIter<T> {
    fn next_back(&mut self) -> Option<T> {
        self.0.next_back().map(|entry| entry.item)
    }
}

impl<T> ExactSizeIterator for IntoIter<T> {}

impl<T> fmt::Debug for IntoIter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IntoIter").field("left", &self.len()).finish()
    }
}

impl<T> IntoIterator for OrderedFastArray<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    /// O(n).
    fn into_iter(self) -> IntoIter<T> {
        IntoIter(self.items.into_iter())
    }
}

/// The items of an ordered array in their order.
pub struct Iter<'a, T>(sequence::Iter<'a, Entry<T>>);

impl<'a, T> Iter<'a, T> {
    pub(super) fn new(entries: sequence::Iter<'a, Entry<T>>) -> Self {
        Self(entries)
    }
}

impl<T> Clone for Iter<'_, T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<'a, T> Iterator for Iter<'a, T> {
    type Item = &'a T;

    fn next(&mut self) -> Option<&'a T> {
        self.0.next().map(|entry| &entry.item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<T> DoubleEndedIterator for Iter<'_, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(|entry| &entry.item)
    }
}

impl<T> ExactSizeIterator for Iter<'_, T> {}

impl<T: fmt::Debug> fmt::Debug for Iter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

impl<'a, T> IntoIterator for &'a OrderedFastArray<T> {
    type Item = &'a T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}
