//! Methods of `Vec` that both kinds of arrays have. Each method in this file calls other methods of the
//! array.
//!
//! *Invariant:* this module does not depend on how an array stores its items.

use repl_core::ItemId;

use crate::array::FastArray;
use crate::marks::ItemMut;
use crate::ordered::OrderedFastArray;

macro_rules! methods_of {
    ($($array:ident)*) => {$(
        impl<T> $array<T> {
            /// Returns an empty array with memory for `capacity` items.
            #[must_use]
            pub fn with_capacity(capacity: usize) -> Self {
                let mut array = Self::new();
                array.reserve(capacity);
                array
            }

            /// Returns whether the array has an item with the id `id`. Costs O(1), but O(n) for the first
            /// lookup by id.
            #[must_use]
            pub fn contains_id(&self, id: ItemId) -> bool {
                self.by_id(id).is_some()
            }

            /// Keeps the items for which `keep` returns true, in their order.
            pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
                self.retain_mut(|item: &mut ItemMut<'_, T>| keep(item));
            }

            /// Removes each item that is equal to the item before it. Of several equal items in a row, the
            /// first item remains and keeps its id.
            pub fn dedup(&mut self)
            where
                T: PartialEq,
            {
                self.dedup_by(T::eq);
            }

            /// Removes each item that has the same key as the item before it. Of several items in a row with
            /// the same key, the first item remains and keeps its id.
            pub fn dedup_by_key<K: PartialEq>(&mut self, mut key: impl FnMut(&T) -> K) {
                self.dedup_by(|item, kept| key(item) == key(kept));
            }

            /// Removes each item for which `same` returns true. The arguments of `same` are the item and the
            /// last kept item before it.
            pub fn dedup_by(&mut self, mut same: impl FnMut(&T, &T) -> bool) {
                let mut kept = None;
                let goes = |item| {
                    let goes = kept.is_some_and(|kept| same(item, kept));
                    kept = if goes { kept } else { Some(item) };
                    goes
                };
                let goes: Vec<bool> = self.iter().map(goes).collect();
                let mut goes = goes.into_iter();
                self.retain(|_| goes.next() == Some(false));
            }

            /// Appends the items of `other` as new items. `other` is empty afterwards.
            pub fn append(&mut self, other: &mut Self) {
                self.extend(other.drain(..));
            }

            /// Appends clones of `items` as new items.
            pub fn extend_from_slice(&mut self, items: &[T])
            where
                T: Clone,
            {
                self.extend(items.iter().cloned());
            }

            /// Removes the items from index `at` on and returns them in a new array. In the returned array,
            /// the removed items are new items, with ids that continue after the ids of this array. So no
            /// item of the returned array receives the id of an item of this array.
            ///
            /// # Panics
            /// Panics if `at` is greater than the length.
            #[must_use = "to take items out, `truncate`"]
            #[track_caller]
            pub fn split_off(&mut self, at: usize) -> Self {
                let mut rest = Self::with_next_id(self.next_id_of_copies());
                rest.extend(self.drain(at..));
                rest
            }

            /// Makes the array `len` items long. If the array is longer than `len`, removes the items from
            /// index `len` on. If the array is shorter than `len`, appends clones of `item` until there are
            /// `len` items.
            pub fn resize(&mut self, len: usize, item: T)
            where
                T: Clone,
            {
                self.resize_with(len, || item.clone());
            }

            /// Makes the array `len` items long. If the array is longer than `len`, removes the items from
            /// index `len` on. If the array is shorter than `len`, appends results of `make` until there are
            /// `len` items.
            pub fn resize_with(&mut self, len: usize, make: impl FnMut() -> T) {
                self.truncate(len);
                let lacking = len - self.len();
                self.extend(std::iter::repeat_with(make).take(lacking));
            }

            /// Sorts the items in ascending order. Items that compare as equal keep their order. Ids stay
            /// with their items. Costs the same as [`sort_by`](Self::sort_by).
            pub fn sort(&mut self)
            where
                T: Ord,
            {
                self.sort_by(T::cmp);
            }

            /// Sorts the items by a key, in ascending order. Items with equal keys keep their order.
            pub fn sort_by_key<K: Ord>(&mut self, mut key: impl FnMut(&T) -> K) {
                self.sort_by(|one, other| key(one).cmp(&key(other)));
            }

            /// Sorts the items by a key, in ascending order. The key is computed only once for each item.
            /// Items with equal keys keep their order.
            pub fn sort_by_cached_key<K: Ord>(&mut self, key: impl FnMut(&T) -> K) {
                let keys: Vec<_> = self.iter().map(key).collect();
                let mut order: Vec<_> = (0..keys.len()).collect();
                order.sort_by(|&one, &other| keys[one].cmp(&keys[other]));
                self.reorder(order);
            }

            /// Sorts the items in ascending order. Equal items may change their order.
            pub fn sort_unstable(&mut self)
            where
                T: Ord,
            {
                self.sort_unstable_by(T::cmp);
            }

            /// Sorts the items by a key, in ascending order. Items with equal keys may change their order.
            pub fn sort_unstable_by_key<K: Ord>(&mut self, mut key: impl FnMut(&T) -> K) {
                self.sort_unstable_by(|one, other| key(one).cmp(&key(other)));
            }
        }
    )*};
}

methods_of! { FastArray OrderedFastArray }
