//! What an ordered array is made from and turned into, and what it is compared and printed as: its items in their order.
//!
//! Invariant: whatever comes into an array is new there, so a clone shares no identity with its source (S137).

use std::fmt;
use std::hash::{Hash, Hasher};

use super::{Entry, OrderedFastArray};
use crate::sequence;

impl<T> Default for OrderedFastArray<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Makes new items, whose ids follow those of the source: an array assigned over its own source replaces every item.
impl<T: Clone> Clone for OrderedFastArray<T> {
    fn clone(&self) -> Self {
        let mut clone = Self::with_next_id(self.ids.next());
        clone.extend(self.iter().cloned());
        clone
    }
}

impl<T> Extend<T> for OrderedFastArray<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        for item in items {
            self.push(item);
        }
    }
}

impl<T> FromIterator<T> for OrderedFastArray<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut array = Self::new();
        array.extend(items);
        array
    }
}

impl<T> From<Vec<T>> for OrderedFastArray<T> {
    fn from(items: Vec<T>) -> Self {
        items.into_iter().collect()
    }
}

impl<T, const N: usize> From<[T; N]> for OrderedFastArray<T> {
    fn from(items: [T; N]) -> Self {
        items.into_iter().collect()
    }
}

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

impl<T: fmt::Debug> fmt::Debug for OrderedFastArray<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

/// By the items in their order; ids do not matter.
impl<T: PartialEq> PartialEq for OrderedFastArray<T> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other)
    }
}

impl<T: Eq> Eq for OrderedFastArray<T> {}

impl<T: PartialEq<U>, U> PartialEq<[U]> for OrderedFastArray<T> {
    fn eq(&self, other: &[U]) -> bool {
        self.len() == other.len() && self.iter().zip(other).all(|(one, other)| one == other)
    }
}

impl<T: PartialEq<U>, U> PartialEq<Vec<U>> for OrderedFastArray<T> {
    fn eq(&self, other: &Vec<U>) -> bool {
        *self == other[..]
    }
}

impl<T: PartialEq<U>, U, const N: usize> PartialEq<[U; N]> for OrderedFastArray<T> {
    fn eq(&self, other: &[U; N]) -> bool {
        *self == other[..]
    }
}

impl<T: Hash> Hash for OrderedFastArray<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_usize(self.len());
        self.iter().for_each(|item| item.hash(state));
    }
}

#[cfg(feature = "serde")]
mod serde_form {
    use std::fmt;
    use std::marker::PhantomData;

    use serde::de::{SeqAccess, Visitor};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::OrderedFastArray;

    /// As a sequence of its items; ids are not kept.
    impl<T: Serialize> Serialize for OrderedFastArray<T> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_seq(self)
        }
    }

    impl<'de, T: Deserialize<'de>> Deserialize<'de> for OrderedFastArray<T> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_seq(Items(PhantomData))
        }
    }

    struct Items<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Items<T> {
        type Value = OrderedFastArray<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a sequence of items")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<OrderedFastArray<T>, A::Error> {
            let mut array = OrderedFastArray::new();
            while let Some(item) = items.next_element()? {
                array.push(item);
            }
            Ok(array)
        }
    }
}
