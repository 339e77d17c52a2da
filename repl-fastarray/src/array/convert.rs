//! Conversions of a fast array: reading it as a slice, and turning it into a `Vec` or an iterator.
//!
//! *Invariant:* every conversion returns the items in their order.

use std::ops::Deref;

use super::FastArray;

impl<T> Deref for FastArray<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<T> AsRef<[T]> for FastArray<T> {
    fn as_ref(&self) -> &[T] {
        &self.items
    }
}

impl<T> From<FastArray<T>> for Vec<T> {
    fn from(array: FastArray<T>) -> Self {
        array.items
    }
}

impl<T> IntoIterator for FastArray<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a FastArray<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}
