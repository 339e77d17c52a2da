//! Methods that return mutable items of a fast array. Most methods in this file return guards, which mark an
//! item at the first write.
//!
//! *Invariant:* only methods with `unmarked` in their names return `&mut T` without marking the item.

use std::cell::Cell;
use std::fmt;
use std::ops::{Index, IndexMut};
use std::slice::SliceIndex;

use repl_core::ItemId;

use super::FastArray;
use crate::indices::no_item;
use crate::marks::{ItemLog, ItemMut, Mark};

/// An iterator over the items of a fast array. The iterator returns guards, which mark the items that are
/// written to. [`FastArray::iter_mut`] returns this iterator.
pub struct IterMut<'a, T> {
    items: std::iter::Enumerate<std::slice::IterMut<'a, T>>,
    ids: &'a [ItemId],
    log: &'a Cell<ItemLog>,
}

impl<'a, T> IterMut<'a, T> {
    fn guard(&self, (index, item): (usize, &'a mut T)) -> ItemMut<'a, T> {
        let mark = Mark { id: self.ids[index], position: index, len: self.ids.len(), log: self.log };
        ItemMut::new(item, index, mark)
    }
}

impl<'a, T> Iterator for IterMut<'a, T> {
    type Item = ItemMut<'a, T>;

    fn next(&mut self) -> Option<ItemMut<'a, T>> {
        self.items.next().map(|next| self.guard(next))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.items.size_hint()
    }
}

impl<T> DoubleEndedIterator for IterMut<'_, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.items.next_back().map(|next| self.guard(next))
    }
}

impl<T> ExactSizeIterator for IterMut<'_, T> {}

impl<T: fmt::Debug> fmt::Debug for IterMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IterMut").field("left", &self.items.len()).finish()
    }
}

impl<T> FastArray<T> {
    /// Returns a guard for the item at `index`, which marks the item at the first write. Costs O(1).
    #[must_use]
    pub fn get_mut(&mut self, index: usize) -> Option<ItemMut<'_, T>> {
        let item = self.items.get_mut(index)?;
        let ids = self.item_ids.ids();
        let (id, len) = (*ids.get(index)?, ids.len());
        let log = Cell::from_mut(&mut self.item_ids.log);
        Some(ItemMut::new(item, index, Mark { id, position: index, len, log }))
    }

    /// Returns a guard for the item `id`. Costs the same as [`index_of`](Self::index_of).
    #[must_use]
    pub fn get_mut_by_id(&mut self, id: ItemId) -> Option<ItemMut<'_, T>> {
        let index = self.item_ids.position(id)?;
        self.get_mut(index)
    }

    /// Returns a guard for the first item.
    #[must_use]
    pub fn first_mut(&mut self) -> Option<ItemMut<'_, T>> {
        self.get_mut(0)
    }

    /// Returns a guard for the last item.
    #[must_use]
    pub fn last_mut(&mut self) -> Option<ItemMut<'_, T>> {
        self.get_mut(self.items.len().checked_sub(1)?)
    }

    /// Calls `edit` with the item `id`, marks the item, and returns what `edit` returns. Returns `None` if
    /// the array has no item `id`.
    pub fn edit<R>(&mut self, id: ItemId, edit: impl FnOnce(&mut T) -> R) -> Option<R> {
        self.get_mut_by_id(id).map(|mut item| edit(&mut item))
    }

    /// Returns guards for all items, as in `for mut item in array.iter_mut()`. Only items that are written to
    /// are marked, so writing to 3 of 10,000 items sends 3 items.
    #[must_use]
    pub fn iter_mut(&mut self) -> IterMut<'_, T> {
        let (ids, log) = self.item_ids.ids_and_log();
        IterMut { items: self.items.iter_mut().enumerate(), ids, log: Cell::from_mut(log) }
    }

    /// Marks the item at `index`, so that the server compares the item with the state of the clients and
    /// sends the differences. Call `mark` after a write that did not mark the item.
    ///
    /// # Panics
    /// Panics if `index` is not less than the length.
    #[track_caller]
    pub fn mark(&mut self, index: usize) {
        if index >= self.items.len() {
            no_item(index, self.items.len());
        }
        self.item_ids.touch(index);
    }

    /// Marks all items as changed. Costs O(n), and the comparison that follows is O(n) too.
    pub fn mark_all(&mut self) {
        for index in 0..self.items.len() {
            self.item_ids.touch(index);
        }
    }

    /// Returns a mutable reference to the item at `index` without marking the item. Until the item is marked,
    /// it is not certain that a write through this reference is sent.
    #[must_use]
    pub fn unmarked_mut(&mut self, index: usize) -> Option<&mut T> {
        self.items.get_mut(index)
    }

    /// Returns all items as a mutable slice without marking any item. Until the written item is marked, it is
    /// not certain that a write through this slice is sent.
    #[must_use]
    pub fn unmarked_slice_mut(&mut self) -> &mut [T] {
        &mut self.items
    }
}

/// Marks the item, even if nothing is written to it afterwards.
impl<T> IndexMut<usize> for FastArray<T> {
    #[track_caller]
    fn index_mut(&mut self, index: usize) -> &mut T {
        if index >= self.items.len() {
            no_item(index, self.items.len());
        }
        self.item_ids.touch(index);
        &mut self.items[index]
    }
}

impl<T, I: SliceIndex<[T]>> Index<I> for FastArray<T> {
    type Output = I::Output;

    #[track_caller]
    fn index(&self, index: I) -> &I::Output {
        &self.items[index]
    }
}

impl<'a, T> IntoIterator for &'a mut FastArray<T> {
    type Item = ItemMut<'a, T>;
    type IntoIter = IterMut<'a, T>;

    fn into_iter(self) -> IterMut<'a, T> {
        self.iter_mut()
    }
}
