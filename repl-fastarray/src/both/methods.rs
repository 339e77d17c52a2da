//! What users of `Vec` know and both kinds of arrays offer alike: each method over what an array has of its own.
//!
//! Invariant: nothing here knows how items are kept, so an item is new, stays or goes as the methods say that are called.

use repl_core::ItemId;

use crate::array::FastArray;
use crate::marks::ItemMut;
use crate::ordered::OrderedFastArray;

macro_rules! methods_of {
    ($($array:ident)*) => {$(
        impl<T> $array<T> {
            /// An empty array with room for `capacity` items.
            #[must_use]
            pub fn with_capacity(capacity: usize) -> Self {
                let mut array = Self::new();
                array.reserve(capacity);
                array
            }

            /// Whether there is an item `id`. O(1), but for the first question, which is O(n).
            #[must_use]
            pub fn contains_id(&self, id: ItemId) -> bool {
                self.by_id(id).is_some()
            }

            /// Keeps the items for which `keep` says so, in their order.
            pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
                self.retain_mut(|item: &mut ItemMut<'_, T>| keep(item));
            }

            /// Takes out items that are equal to the one before them; the first of each run stays, with its id.
            pub fn dedup(&mut self)
            where
                T: PartialEq,
            {
                self.dedup_by(T::eq);
            }

            /// Takes out items whose key is that of the item before them; the first of each run stays, with its id.
            pub fn dedup_by_key<K: PartialEq>(&mut self, mut key: impl FnMut(&T) -> K) {
                self.dedup_by(|item, kept| key(item) == key(kept));
            }

            /// Takes out items of which `same` says that they are as the one before: it is given an item, and the last before it that stays.
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

            /// Appends the items of `other`, new ones here, and leaves it empty.
            pub fn append(&mut self, other: &mut Self) {
                self.extend(other.drain(..));
            }

            /// Appends clones of `items`.
            pub fn extend_from_slice(&mut self, items: &[T])
            where
                T: Clone,
            {
                self.extend(items.iter().cloned());
            }

            /// Takes out the items from `at` on and gives them as an array of their own, in which they are new: it goes on counting ids where
            /// this one is, so that none of them has the id of an item that was here.
            ///
            /// # Panics
            /// If `at` is beyond the length.
            #[must_use = "to take items out, `truncate`"]
            #[track_caller]
            pub fn split_off(&mut self, at: usize) -> Self {
                let mut rest = Self::with_next_id(self.next_id_of_copies());
                rest.extend(self.drain(at..));
                rest
            }

            /// Takes out the items from `len` on, or appends clones of `item` until there are so many.
            pub fn resize(&mut self, len: usize, item: T)
            where
                T: Clone,
            {
                self.resize_with(len, || item.clone());
            }

            /// Takes out the items from `len` on, or appends what `make` gives until there are so many.
            pub fn resize_with(&mut self, len: usize, make: impl FnMut() -> T) {
                self.truncate(len);
                let lacking = len - self.len();
                self.extend(std::iter::repeat_with(make).take(lacking));
            }

            /// Sorts the items, equal ones in the order they had. Ids stay with their items. Costs what [`sort_by`](Self::sort_by) costs.
            pub fn sort(&mut self)
            where
                T: Ord,
            {
                self.sort_by(T::cmp);
            }

            /// Sorts the items by a key, those of equal keys in the order they had.
            pub fn sort_by_key<K: Ord>(&mut self, mut key: impl FnMut(&T) -> K) {
                self.sort_by(|one, other| key(one).cmp(&key(other)));
            }

            /// Sorts the items by a key that is worked out once for each, those of equal keys in the order they had.
            pub fn sort_by_cached_key<K: Ord>(&mut self, key: impl FnMut(&T) -> K) {
                let keys: Vec<_> = self.iter().map(key).collect();
                let mut order: Vec<_> = (0..keys.len()).collect();
                order.sort_by(|&one, &other| keys[one].cmp(&keys[other]));
                self.reorder(order);
            }

            /// Sorts the items, equal ones in any order.
            pub fn sort_unstable(&mut self)
            where
                T: Ord,
            {
                self.sort_unstable_by(T::cmp);
            }

            /// Sorts the items by a key, those of equal keys in any order.
            pub fn sort_unstable_by_key<K: Ord>(&mut self, mut key: impl FnMut(&T) -> K) {
                self.sort_unstable_by(|one, other| key(one).cmp(&key(other)));
            }
        }
    )*};
}

methods_of! { FastArray OrderedFastArray }
