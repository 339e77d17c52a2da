//! The array: items, and beside them the roster that knows each by an id.
//!
//! Invariant: items and roster are equally long, and an item and what the roster has of it stand at the same index.

use std::collections::TryReserveError;
use std::ops::{Bound, RangeBounds};

use repl_core::ItemId;

use crate::follow::Followed;
use crate::guard::ItemMut;
use crate::receipt::Receipt;
use crate::roster::Roster;

/// A growing array whose items have identities of their own, so that what is sent of it is what changed.
///
/// It is used like a `Vec`, which it is apart from three things: the type, since writing must be noted; ids, by which clients know the items;
/// and `Clone`, which makes new items (S137). Reading goes through a slice. See the [crate's page](crate) for an example.
///
/// Unless something else is said, methods cost what those of `Vec` with the same names cost; for each item 12 bytes are kept beside it, and 10
/// to 20 more once items are looked for by id.
pub struct FastArray<T> {
    pub(crate) items: Vec<T>,
    pub(crate) roster: Roster,
    /// Set on a shadow: what it has followed.
    pub(crate) followed: Option<Followed>,
    /// Set on a replica: what came of the update that is being received.
    pub(crate) receipt: Option<Box<Receipt>>,
}

impl<T> FastArray<T> {
    /// An empty array. Takes no memory.
    #[must_use]
    pub fn new() -> Self {
        Self::with_next_id(ItemId::FIRST)
    }

    /// An empty array with room for `capacity` items.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        let mut array = Self::new();
        array.reserve(capacity);
        array
    }

    /// An empty array whose first item gets the id `next`: for tests of what happens at the end of the range.
    #[doc(hidden)]
    #[must_use]
    pub fn with_next_id(next: ItemId) -> Self {
        Self { items: Vec::new(), roster: Roster::starting(next), followed: None, receipt: None }
    }

    /// How many items there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// For how many items there is room.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.items.capacity()
    }

    /// Makes room for `additional` more items.
    pub fn reserve(&mut self, additional: usize) {
        self.items.reserve(additional);
        self.roster.reserve(additional);
    }

    /// The items.
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        &self.items
    }

    /// The ids of the items, in their order.
    #[must_use]
    pub fn ids(&self) -> &[ItemId] {
        &self.roster.ids
    }

    /// The id of the item at `index` (S138): it stays with the item wherever that moves, and no other item gets it.
    #[must_use]
    pub fn id(&self, index: usize) -> Option<ItemId> {
        self.roster.ids.get(index).copied()
    }

    /// Where the item `id` stands. O(1), but O(n) when asked for the first time, and after a sort, a rotation or some hundreds of insertions and
    /// removals in the middle.
    #[must_use]
    pub fn index_of(&self, id: ItemId) -> Option<usize> {
        self.roster.position(id)
    }

    /// The item `id`. Costs what [`index_of`](Self::index_of) costs.
    #[must_use]
    pub fn by_id(&self, id: ItemId) -> Option<&T> {
        self.items.get(self.roster.position(id)?)
    }

    /// Appends an item, new whatever it was before, and gives its id.
    pub fn push(&mut self, item: T) -> ItemId {
        let id = self.roster.fresh();
        self.push_as(id, item);
        id
    }

    /// Inserts an item before the one at `index`, and gives its id.
    ///
    /// # Panics
    /// If `index` is beyond the length.
    pub fn insert(&mut self, index: usize, item: T) -> ItemId {
        let id = self.roster.fresh();
        self.items.insert(index, item);
        self.roster.insert(index, id);
        id
    }

    /// Takes out the item at `index`; the others keep their order. If it is put back, it is a new item.
    ///
    /// # Panics
    /// If `index` is not below the length.
    pub fn remove(&mut self, index: usize) -> T {
        let item = self.items.remove(index);
        self.roster.remove(index);
        item
    }

    /// Takes out the item at `index` and puts the last one in its place. O(1).
    ///
    /// # Panics
    /// If `index` is not below the length.
    pub fn swap_remove(&mut self, index: usize) -> T {
        let item = self.items.swap_remove(index);
        self.roster.swap_remove(index);
        item
    }

    /// Takes out the item `id`; the others keep their order. O(n).
    pub fn remove_by_id(&mut self, id: ItemId) -> Option<T> {
        let index = self.roster.position(id)?;
        Some(self.remove(index))
    }

    /// Takes out the last item.
    pub fn pop(&mut self) -> Option<T> {
        let item = self.items.pop()?;
        self.roster.swap_remove(self.items.len());
        Some(item)
    }

    /// Takes out all items.
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// Takes out the items from `len` on.
    pub fn truncate(&mut self, len: usize) {
        if len < self.items.len() {
            self.roster.remove_range(len..self.items.len());
            self.items.truncate(len);
        }
    }

    /// Takes out the items of a range, at once, whether or not they are then asked for.
    ///
    /// # Panics
    /// If the range ends before it starts, or beyond the length.
    pub fn drain(&mut self, range: impl RangeBounds<usize>) -> std::vec::IntoIter<T> {
        let start = match range.start_bound() {
            Bound::Included(&start) => start,
            Bound::Excluded(&before) => before + 1,
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(&last) => last + 1,
            Bound::Excluded(&end) => end,
            Bound::Unbounded => self.items.len(),
        };
        let drained: Vec<_> = self.items.drain(start..end).collect();
        self.roster.remove_range(start..end);
        drained.into_iter()
    }

    /// Keeps the items for which `keep` says so, in their order.
    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        self.retain_mut(|item| keep(item));
    }

    /// Keeps the items for which `keep` says so, in their order; those that it writes to are marked.
    pub fn retain_mut(&mut self, mut keep: impl FnMut(&mut ItemMut<'_, T>) -> bool) {
        let mut sieve = Sieve { array: self, kept: 0, seen: 0 };
        while sieve.seen < sieve.array.items.len() {
            let at = sieve.seen;
            let stays = sieve.array.get_mut(at).is_some_and(|mut item| keep(&mut item));
            sieve.seen += 1;
            if stays {
                sieve.array.items.swap(sieve.kept, at);
                sieve.array.roster.ids.swap(sieve.kept, at);
                sieve.array.roster.stamps.swap(sieve.kept, at);
                sieve.kept += 1;
            }
        }
    }

    /// Appends the items of `other`, new ones here, and leaves it empty.
    pub fn append(&mut self, other: &mut Self) {
        self.extend(other.drain(..));
    }

    /// Makes room for `additional` more items, if there is memory.
    ///
    /// # Errors
    /// If there is none.
    pub fn try_reserve(&mut self, additional: usize) -> Result<(), TryReserveError> {
        self.items.try_reserve(additional)?;
        self.roster.ids.try_reserve(additional)?;
        self.roster.stamps.try_reserve(additional)
    }

    /// Appends an item under an id that no other item here has.
    pub(crate) fn push_as(&mut self, id: ItemId, item: T) {
        self.items.push(item);
        self.roster.push(id);
    }
}

/// Items before `kept` stay, those from there to `seen` go, and the others have not been looked at. They go when this is dropped, even if the
/// user's code panics, so that items and roster agree.
struct Sieve<'a, T> {
    array: &'a mut FastArray<T>,
    kept: usize,
    seen: usize,
}

impl<T> Drop for Sieve<'_, T> {
    fn drop(&mut self) {
        if self.kept < self.seen {
            self.array.roster.shifted(self.seen - self.kept);
            self.array.roster.remove_range(self.kept..self.seen);
            self.array.items.drain(self.kept..self.seen);
        }
    }
}

impl<T> Extend<T> for FastArray<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        let items = items.into_iter();
        self.reserve(items.size_hint().0);
        for item in items {
            self.push(item);
        }
    }
}
