//! Writing to the items of an ordered array, with the guards that mark what is really written to.
//!
//! Invariant: no `&mut` to an item leaves the array without a mark, but by methods whose names say so.

use std::cell::Cell;
use std::fmt;
use std::ops::{Index, IndexMut};

use repl_core::ItemId;

use super::OrderedFastArray;
use super::entry::Entry;
use crate::marks::{ItemMut, Log, Mark};
use crate::places::no_item;
use crate::sequence::{self, Key};

/// The items of an ordered array, each to be written to: made by [`OrderedFastArray::iter_mut`].
pub struct IterMut<'a, T> {
    entries: sequence::IterMut<'a, Entry<T>>,
    next: usize,
    len: usize,
    log: &'a Cell<Log>,
}

impl<'a, T> IterMut<'a, T> {
    fn guard(&self, (key, entry): (Key, &'a mut Entry<T>), index: usize) -> ItemMut<'a, T> {
        let mark = Mark { id: entry.id, place: key.number(), len: self.len, log: self.log };
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
    /// The item at `index`, to be written to: it is marked when it is.
    #[must_use]
    pub fn get_mut(&mut self, index: usize) -> Option<ItemMut<'_, T>> {
        self.guard(self.items.key_at(index)?, index)
    }

    /// The item with this key, which stood at `index` when it was asked for.
    pub(super) fn guard(&mut self, key: Key, index: usize) -> Option<ItemMut<'_, T>> {
        let len = self.len();
        let entry = self.items.by_key_mut(key)?;
        let log = Cell::from_mut(&mut self.log);
        let mark = Mark { id: entry.id, place: key.number(), len, log };
        Some(ItemMut::new(&mut entry.item, index, mark))
    }

    /// The item `id`, to be written to. When the first id is asked for, O(n).
    #[must_use]
    pub fn get_mut_by_id(&mut self, id: ItemId) -> Option<ItemMut<'_, T>> {
        self.get_mut(self.index_of(id)?)
    }

    /// The first item, to be written to.
    #[must_use]
    pub fn first_mut(&mut self) -> Option<ItemMut<'_, T>> {
        self.get_mut(0)
    }

    /// The last item, to be written to.
    #[must_use]
    pub fn last_mut(&mut self) -> Option<ItemMut<'_, T>> {
        self.get_mut(self.len().checked_sub(1)?)
    }

    /// Calls `edit` with the item `id`, which is marked; gives what it gave, or `None` if there is no such item. O(1); when the first id is asked
    /// for, O(n).
    pub fn edit<R>(&mut self, id: ItemId, edit: impl FnOnce(&mut T) -> R) -> Option<R> {
        let key = self.key(id)?;
        self.touch(key);
        self.items.by_key_mut(key).map(|entry| edit(&mut entry.item))
    }

    /// The items in their order, each to be written to: `for mut item in array.iter_mut()`. Those that are written to are marked, so that
    /// writing to 3 of 10,000 sends 3. O(n) at once, for a pointer to each.
    #[must_use]
    pub fn iter_mut(&mut self) -> IterMut<'_, T> {
        let len = self.len();
        IterMut { entries: self.items.iter_mut(), next: 0, len, log: Cell::from_mut(&mut self.log) }
    }

    /// Marks the item at `index`: it is compared with what clients have, and what differs is sent. For what was written without a mark.
    ///
    /// # Panics
    /// If `index` is not below the length.
    #[track_caller]
    pub fn mark(&mut self, index: usize) {
        let key = self.items.key_at(index);
        self.touch(key.unwrap_or_else(|| no_item(index, self.len())));
    }

    /// Marks all items. O(n), and so is the comparison that follows.
    pub fn mark_all(&mut self) {
        let Self { items, log, .. } = self;
        for (key, entry) in items.keys_from(0).zip(items.iter()) {
            log.touch(entry.id, key.number(), items.len());
        }
    }

    /// The item at `index`, without a mark: what is written is sent at the latest when somebody marks the item (S141, S142).
    #[must_use]
    pub fn unmarked_mut(&mut self, index: usize) -> Option<&mut T> {
        self.items.get_mut(index).map(|entry| &mut entry.item)
    }
}

impl<T> Index<usize> for OrderedFastArray<T> {
    type Output = T;

    #[track_caller]
    fn index(&self, index: usize) -> &T {
        self.get(index).unwrap_or_else(|| no_item(index, self.len()))
    }
}

/// Marks the item, whether or not it is then written to.
impl<T> IndexMut<usize> for OrderedFastArray<T> {
    #[track_caller]
    fn index_mut(&mut self, index: usize) -> &mut T {
        let len = self.len();
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
