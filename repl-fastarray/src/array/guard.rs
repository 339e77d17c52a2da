//! Writing to the items of an array, with the guards that mark what is really written to.
//!
//! Invariant: no `&mut` to an item leaves the array without a mark, but by methods whose names say so.

use std::cell::Cell;
use std::fmt;
use std::ops::{Index, IndexMut};
use std::slice::SliceIndex;

use repl_core::ItemId;

use super::FastArray;
use crate::marks::{ItemMut, Log, Mark};
use crate::places::no_item;

/// The items of an array, each to be written to: made by [`FastArray::iter_mut`].
pub struct IterMut<'a, T> {
    items: std::iter::Enumerate<std::slice::IterMut<'a, T>>,
    ids: &'a [ItemId],
    log: &'a Cell<Log>,
}

impl<'a, T> IterMut<'a, T> {
    fn guard(&self, (place, item): (usize, &'a mut T)) -> ItemMut<'a, T> {
        let mark = Mark { id: self.ids[place], place, len: self.ids.len(), log: self.log };
        ItemMut::new(item, place, mark)
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
    /// The item at `index`, to be written to: it is marked when it is. O(1).
    #[must_use]
    pub fn get_mut(&mut self, index: usize) -> Option<ItemMut<'_, T>> {
        let item = self.items.get_mut(index)?;
        let id = *self.roster.ids.get(index)?;
        let len = self.roster.ids.len();
        let log = Cell::from_mut(&mut self.roster.log);
        Some(ItemMut::new(item, index, Mark { id, place: index, len, log }))
    }

    /// The item `id`, to be written to. Costs what [`index_of`](Self::index_of) costs.
    #[must_use]
    pub fn get_mut_by_id(&mut self, id: ItemId) -> Option<ItemMut<'_, T>> {
        let index = self.roster.position(id)?;
        self.get_mut(index)
    }

    /// The first item, to be written to.
    #[must_use]
    pub fn first_mut(&mut self) -> Option<ItemMut<'_, T>> {
        self.get_mut(0)
    }

    /// The last item, to be written to.
    #[must_use]
    pub fn last_mut(&mut self) -> Option<ItemMut<'_, T>> {
        self.get_mut(self.items.len().checked_sub(1)?)
    }

    /// Calls `edit` with the item `id`, which is marked; gives what it gave, or `None` if there is no such
    /// item.
    pub fn edit<R>(&mut self, id: ItemId, edit: impl FnOnce(&mut T) -> R) -> Option<R> {
        self.get_mut_by_id(id).map(|mut item| edit(&mut item))
    }

    /// The items, each to be written to: `for mut item in array.iter_mut()`. Those that are written to are
    /// marked, so that writing to 3 of 10,000 sends 3.
    #[must_use]
    pub fn iter_mut(&mut self) -> IterMut<'_, T> {
        IterMut {
            items: self.items.iter_mut().enumerate(),
            ids: &self.roster.ids,
            log: Cell::from_mut(&mut self.roster.log),
        }
    }

    /// Marks the item at `index`: it is compared with what clients have, and what differs is sent. For what
    /// was written without a mark.
    ///
    /// # Panics
    /// If `index` is not below the length.
    #[track_caller]
    pub fn mark(&mut self, index: usize) {
        if index >= self.len() {
            no_item(index, self.len());
        }
        self.roster.touch(index);
    }

    /// Marks all items. O(n), and so is the comparison that follows.
    pub fn mark_all(&mut self) {
        for index in 0..self.items.len() {
            self.roster.touch(index);
        }
    }

    /// The item at `index`, without a mark: what is written is sent at the latest when somebody marks the
    /// item (S141, S142).
    #[must_use]
    pub fn unmarked_mut(&mut self, index: usize) -> Option<&mut T> {
        self.items.get_mut(index)
    }

    /// All items, without marks: what is written is sent at the latest when somebody marks the items (S141,
    /// S142).
    #[must_use]
    pub fn unmarked_slice_mut(&mut self) -> &mut [T] {
        &mut self.items
    }
}

/// Marks the item, whether or not it is then written to.
impl<T> IndexMut<usize> for FastArray<T> {
    #[track_caller]
    fn index_mut(&mut self, index: usize) -> &mut T {
        if index >= self.len() {
            no_item(index, self.len());
        }
        self.roster.touch(index);
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
