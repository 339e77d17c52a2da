//! Trait implementations that both kinds of arrays share: conversions, comparisons, hashing and `serde`. All
//! implementations in this file treat an array as the sequence of its items.
//!
//! *Invariant:* each item that is added to an array becomes a new item, so a clone and its source have no ids
//! in common (S137).

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::array::FastArray;
use crate::ordered::OrderedFastArray;

macro_rules! forms_of {
    ($($array:ident)*) => {$(
        /// Returns an empty array. Ids of items start from the first id; see [Ids](Self#ids).
        impl<T> Default for $array<T> {
            fn default() -> Self {
                Self::new()
            }
        }

        /// Clones the array. The clone has new items, with ids that continue after the ids of the source. So
        /// if the clone is assigned over its source, every item of the source is replaced (S137).
        impl<T: Clone> Clone for $array<T> {
            fn clone(&self) -> Self {
                let mut clone = Self::with_next_id(self.next_id_of_copies());
                clone.extend(self.iter().cloned());
                clone
            }
        }

        /// Appends items as new items of this array.
        impl<T> Extend<T> for $array<T> {
            fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
                let items = items.into_iter();
                self.reserve(items.size_hint().0);
                items.for_each(|item| _ = self.push(item));
            }
        }

        /// Appends copies of items as new items of this array.
        impl<'a, T: Copy> Extend<&'a T> for $array<T> {
            fn extend<I: IntoIterator<Item = &'a T>>(&mut self, items: I) {
                self.extend(items.into_iter().copied());
            }
        }

        /// Makes new items, with ids from the first id on. See [Ids](Self#ids) for an array that replaces
        /// another array.
        impl<T> FromIterator<T> for $array<T> {
            fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
                let mut array = Self::new();
                array.extend(items);
                array
            }
        }

        /// Makes new items, with ids from the first id on. See [Ids](Self#ids) for an array that replaces
        /// another array.
        impl<T> From<Vec<T>> for $array<T> {
            fn from(items: Vec<T>) -> Self {
                items.into_iter().collect()
            }
        }

        /// Makes new items, with ids from the first id on. See [Ids](Self#ids) for an array that replaces
        /// another array.
        impl<T, const N: usize> From<[T; N]> for $array<T> {
            fn from(items: [T; N]) -> Self {
                items.into_iter().collect()
            }
        }

        /// Makes new items as clones of the items of the slice, with ids from the first id on. See
        /// [Ids](Self#ids) for an array that replaces another array.
        impl<T: Clone> From<&[T]> for $array<T> {
            fn from(items: &[T]) -> Self {
                items.iter().cloned().collect()
            }
        }

        /// Compares the items in their order. The ids of the items are not compared.
        impl<T: PartialEq> PartialEq for $array<T> {
            fn eq(&self, other: &Self) -> bool {
                self.len() == other.len() && self.iter().eq(other)
            }
        }

        impl<T: Eq> Eq for $array<T> {}

        impl<T: PartialEq<U>, U> PartialEq<[U]> for $array<T> {
            fn eq(&self, other: &[U]) -> bool {
                self.len() == other.len() && self.iter().zip(other).all(|(one, other)| one == other)
            }
        }

        impl<T: PartialEq<U>, U> PartialEq<&[U]> for $array<T> {
            fn eq(&self, other: &&[U]) -> bool {
                *self == **other
            }
        }

        impl<T: PartialEq<U>, U> PartialEq<Vec<U>> for $array<T> {
            fn eq(&self, other: &Vec<U>) -> bool {
                *self == other[..]
            }
        }

        impl<T: PartialEq<U>, U, const N: usize> PartialEq<[U; N]> for $array<T> {
            fn eq(&self, other: &[U; N]) -> bool {
                *self == other[..]
            }
        }

        /// Hashes the items in their order, as a slice does. The ids of the items are not hashed.
        impl<T: Hash> Hash for $array<T> {
            fn hash<H: Hasher>(&self, state: &mut H) {
                state.write_usize(self.len());
                self.iter().for_each(|item| item.hash(state));
            }
        }

        impl<T: fmt::Debug> fmt::Debug for $array<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_list().entries(self).finish()
            }
        }

        /// Serializes the sequence of items, without ids.
        #[cfg(feature = "serde")]
        impl<T: serde::Serialize> serde::Serialize for $array<T> {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_seq(self)
            }
        }

        /// Deserializes a sequence into new items, with ids from the first id on. See [Ids](Self#ids) for an
        /// array that replaces another array.
        #[cfg(feature = "serde")]
        impl<'de, T: serde::Deserialize<'de>> serde::Deserialize<'de> for $array<T> {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_seq(sequence::Items::default())
            }
        }
    )*};
}

forms_of! { FastArray OrderedFastArray }

#[cfg(feature = "serde")]
mod sequence {
    use std::fmt;
    use std::marker::PhantomData;

    use serde::Deserialize;
    use serde::de::{SeqAccess, Visitor};

    /// A visitor that reads a sequence of `T` into an array `A`.
    pub(super) struct Items<T, A>(PhantomData<(T, A)>);

    impl<T, A> Default for Items<T, A> {
        fn default() -> Self {
            Self(PhantomData)
        }
    }

    impl<'de, T: Deserialize<'de>, A: Default + Extend<T>> Visitor<'de> for Items<T, A> {
        type Value = A;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a sequence of items")
        }

        fn visit_seq<S: SeqAccess<'de>>(self, mut items: S) -> Result<A, S::Error> {
            let mut array = A::default();
            while let Some(item) = items.next_element()? {
                array.extend(Some(item));
            }
            Ok(array)
        }
    }
}
