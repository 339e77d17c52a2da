//! Iterators over the items of an ordered array.
//!
//! *Invariant:* an iterator returns each item exactly once and in the order of the array, even if items are
//! taken from both ends.

use std::fmt;

use super::labelled_item::LabelledItem;
use crate::sequence;

/// An iterator over the items of an ordered array, in their order.
pub struct Iter<'a, T>(sequence::Iter<'a, LabelledItem<T>>);

impl<'a, T> Iter<'a, T> {
    pub(super) fn new(entries: sequence::Iter<'a, LabelledItem<T>>) -> Self {
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

/// An iterator that owns the items of an ordered array, in their order.
pub struct IntoIter<T>(std::vec::IntoIter<LabelledItem<T>>);

impl<T> IntoIter<T> {
    pub(super) fn new(entries: std::vec::IntoIter<LabelledItem<T>>) -> Self {
        Self(entries)
    }
}

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
