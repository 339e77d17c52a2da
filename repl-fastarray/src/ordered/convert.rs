//! Conversions of an ordered array into a `Vec` or an iterator.
//!
//! *Invariant:* every conversion returns the items in their order.

use super::OrderedFastArray;
use super::iter::{IntoIter, Iter};

impl<T> From<OrderedFastArray<T>> for Vec<T> {
    fn from(array: OrderedFastArray<T>) -> Self {
        array.into_iter().collect()
    }
}

impl<T> IntoIterator for OrderedFastArray<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    /// Moves the items out of the tree. Costs O(n).
    fn into_iter(self) -> IntoIter<T> {
        IntoIter::new(self.items.into_iter())
    }
}

impl<'a, T> IntoIterator for &'a OrderedFastArray<T> {
    type Item = &'a T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}
