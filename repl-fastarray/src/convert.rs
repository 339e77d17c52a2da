//! What an array is made from and turned into, and what it is compared and printed as: its items.
//!
//! Invariant: whatever comes into an array is new there, so a clone shares no identity with its source (S137).

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

use crate::array::FastArray;

impl<T> Default for FastArray<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Makes new items, whose ids follow those of the source: an array assigned over its own source replaces every item.
impl<T: Clone> Clone for FastArray<T> {
    fn clone(&self) -> Self {
        let mut clone = Self::with_next_id(self.roster.next());
        clone.extend(self.items.iter().cloned());
        clone
    }
}

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

impl<T> FromIterator<T> for FastArray<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut array = Self::new();
        array.extend(items);
        array
    }
}

impl<T> From<Vec<T>> for FastArray<T> {
    fn from(items: Vec<T>) -> Self {
        items.into_iter().collect()
    }
}

impl<T, const N: usize> From<[T; N]> for FastArray<T> {
    fn from(items: [T; N]) -> Self {
        items.into_iter().collect()
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

impl<T: fmt::Debug> fmt::Debug for FastArray<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.items.fmt(f)
    }
}

/// By the items in their order; ids do not matter.
impl<T: PartialEq> PartialEq for FastArray<T> {
    fn eq(&self, other: &Self) -> bool {
        self.items == other.items
    }
}

impl<T: Eq> Eq for FastArray<T> {}

impl<T: PartialEq> PartialEq<[T]> for FastArray<T> {
    fn eq(&self, other: &[T]) -> bool {
        self.items == other
    }
}

impl<T: PartialEq> PartialEq<Vec<T>> for FastArray<T> {
    fn eq(&self, other: &Vec<T>) -> bool {
        self.items == *other
    }
}

impl<T: PartialEq, const N: usize> PartialEq<[T; N]> for FastArray<T> {
    fn eq(&self, other: &[T; N]) -> bool {
        self.items == other
    }
}

impl<T: Hash> Hash for FastArray<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.items.hash(state);
    }
}

#[cfg(feature = "serde")]
mod serde_form {
    use std::fmt;
    use std::marker::PhantomData;

    use serde::de::{SeqAccess, Visitor};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::array::FastArray;

    /// As a sequence of its items; ids are not kept.
    impl<T: Serialize> Serialize for FastArray<T> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_seq(self)
        }
    }

    impl<'de, T: Deserialize<'de>> Deserialize<'de> for FastArray<T> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_seq(Items(PhantomData))
        }
    }

    struct Items<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Items<T> {
        type Value = FastArray<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a sequence of items")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<FastArray<T>, A::Error> {
            let mut array = FastArray::new();
            while let Some(item) = items.next_element()? {
                array.push(item);
            }
            Ok(array)
        }
    }
}
