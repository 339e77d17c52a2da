//! Methods that return mutable items of an ordered array. Most methods in this file return guards, which mark
//! an item at the first write.
//!
//! *Invariant:* only methods with `unmarked` in their names return `&mut T` without marking the item.

use std::cell::Cell;
use std::fmt;
use std::ops::{Index, IndexMut};

use repl_core::ItemId;

use super::OrderedFastArray;
use super::labelled_item::LabelledItem;
use crate::indices::no_item;
use crate::marks::{ItemLog, ItemMut, Mark};
use crate::sequence::{self, Key};

/// An iterator over the items of an ordered array. The iterator returns guards, which mark the items that are
/// written to. [`OrderedFastArray::iter_mut`] returns this iterator.
pub struct IterMut<'a, T> {
    entries: sequence::IterMut<'a, LabelledItem<T>>,
    next: usize,
    len: usize,
    log: &'a Cell<ItemLog>,
}

impl<'a, T> IterMut<'a, T> {
    fn guard(&self, (key, entry): (Key, &'a mut LabelledItem<T>), index: usize) -> ItemMut<'a, T> {
        let mark = Mark { id: entry.id, position: key.number(), len: self.len, log: self.log };
        ItemMut::new(&mut entry.item, index, mark)
    }
}

impl<'a, T> Iterator for IterMut<'a, T> {
    type Item = ItemMut<'a, T>;

    fn next(&mut self) -> Option<ItemMut<'a, T>> {
        let next = self.entries.next()?;
        self.next += 1;
        Some(self.guard(next, self.next - 1))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.entries.size_hint()
    }
}

impl<T> DoubleEndedIterator for IterMut<'_, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let next = self.entries.next_back()?;
        Some(self.guard(next, self.next + self.entries.len()))
    }
}

impl<T> ExactSizeIterator for IterMut<'_, T> {}

impl<T> fmt::Debug for IterMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IterMut").field("left", &self.entries.len()).finish()
    }
}

impl<T> OrderedFastArray<T> {
    /// Returns a guard for the item at `index`, which marks the item at the first write.
    #[must_use]
    pub fn get_mut(&mut self, index: usize) -> Option<ItemMut<'_, T>> {
        self.guard(self.items.key_at(index)?, index)
    }

    /// Returns a guard for the item with this key, which is at `index`.
    pub(super) fn guard(&mut self, key: Key, index: usize) -> Option<ItemMut<'_, T>> {
        let len = self.items.len();
        let entry = self.items.by_key_mut(key)?;
        let log = Cell::from_mut(&mut self.log);
        let mark = Mark { id: entry.id, position: key.number(), len, log };
        Some(ItemMut::new(&mut entry.item, index, mark))
    }

    /// Returns a guard for the item `id`. Costs O(n) for the first lookup by id.
    #[must_use]
    pub fn get_mut_by_id(&mut self, id: ItemId) -> Option<ItemMut<'_, T>> {
        self.get_mut(self.index_of(id)?)
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
    /// the array has no item `id`. Costs O(1), but O(n) for the first lookup by id.
    pub fn edit<R>(&mut self, id: ItemId, edit: impl FnOnce(&mut T) -> R) -> Option<R> {
        let key = self.key(id)?;
        self.touch(key);
        self.items.by_key_mut(key).map(|entry| edit(&mut entry.item))
    }

    /// Returns guards for all items in their order, as in `for mut item in array.iter_mut()`. Only items that
    /// are written to are marked, so writing to 3 of 10,000 items sends 3 items. The call costs O(n), because
    /// it allocates a pointer for each item.
    #[must_use]
    pub fn iter_mut(&mut self) -> IterMut<'_, T> {
        let len = self.items.len();
        IterMut { entries: self.items.iter_mut(), next: 0, len, log: Cell::from_mut(&mut self.log) }
    }

    /// Marks the item at `index`, so that the server compares the item with the state of the clients and
    /// sends the differences. Call `mark` after a write that did not mark the item.
    ///
    /// # Panics
    /// Panics if `index` is not less than the length.
    #[track_caller]
    pub fn mark(&mut self, index: usize) {
        let key = self.items.key_at(index);
        self.touch(key.unwrap_or_else(|| no_item(index, self.items.len())));
    }

    /// Marks all items as changed. Costs O(n), and the comparison that follows is O(n) too.
    pub fn mark_all(&mut self) {
        let Self { items, log, .. } = self;
        for (key, entry) in items.keys_from(0).zip(items.iter()) {
            log.touch(entry.id, key.number(), items.len());
        }
    }

    /// Returns a mutable reference to the item at `index` without marking the item. Until the item is marked,
    /// it is not certain that a write through this reference is sent.
    #[must_use]
    pub fn unmarked_mut(&mut self, index: usize) -> Option<&mut T> {
        self.items.get_mut(index).map(|entry| &mut entry.item)
    }
}

impl<T> Index<usize> for OrderedFastArray<T> {
    type Output = T;

    #[track_caller]
    fn index(&self, index: usize) -> &T {
        self.get(index).unwrap_or_else(|| no_item(index, self.items.len()))
    }
}

/// Marks the item, even if nothing is written to it.
impl<T> IndexMut<usize> for OrderedFastArray<T> {
    #[track_caller]
    fn index_mut(&mut self, index: usize) -> &mut T {
        let len = self.items.len();
        let key = self.items.key_at(index);
        let entry = key.and_then(|key| Some((key, self.items.by_key_mut(key)?)));
        let (key, entry) = entry.unwrap_or_else(|| no_item(index, len));
        self.log.touch(entry.id, key.number(), len);
        &mut entry.item
    }
}

impl<'a, T> IntoIterator for &'a mut OrderedFastArray<T> {
    type Item = ItemMut<'a, T>;
    type IntoIter = IterMut<'a, T>;

    fn into_iter(self) -> IterMut<'a, T> {
        self.iter_mut()
    }
}
