//! [`ArrayUpdate`]: the access to the whole array that callbacks have during an update.
//!
//! *Invariant:* no method of this file changes the number of items or their order (S179).

use std::fmt;
use std::ops::{Index, IndexMut};

use repl_core::ItemId;

use crate::indices::no_item;

/// Gives access by index to the items of a `FastArray` or an `OrderedFastArray`.
pub(crate) trait ItemAccess<T> {
    fn len(&self) -> usize;
    fn item(&self, index: usize) -> Option<&T>;
    fn item_mut(&mut self, index: usize) -> Option<&mut T>;
    fn id(&self, index: usize) -> Option<ItemId>;
}

/// Gives callbacks access to an array during an update. Callbacks can read and write the items, but cannot
/// add, remove or move items.
pub struct ArrayUpdate<'a, T> {
    pub(crate) access: &'a mut dyn ItemAccess<T>,
    pub(crate) indices: &'a [usize],
    pub(crate) old_len: usize,
    pub(crate) final_len: usize,
}

impl<'a, T> ArrayUpdate<'a, T> {
    /// Returns the indices of the items that this callback is about, in the order in which the callbacks of
    /// the single items ran.
    #[must_use]
    pub fn indices(&self) -> &'a [usize] {
        self.indices
    }

    /// Returns the current number of items. Includes new items, and items that are about to be removed.
    #[must_use]
    pub fn len(&self) -> usize {
        self.access.len()
    }

    /// Returns whether the array has no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of items before the update.
    #[must_use]
    pub fn old_len(&self) -> usize {
        self.old_len
    }

    /// Returns the number of items after the update.
    #[must_use]
    pub fn final_len(&self) -> usize {
        self.final_len
    }

    /// Returns the item at `index`.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&T> {
        self.access.item(index)
    }

    /// Returns a mutable reference to the item at `index`. A later update from the server replaces the
    /// written values.
    #[must_use]
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        self.access.item_mut(index)
    }

    /// Returns the id of the item at `index`.
    #[must_use]
    pub fn id(&self, index: usize) -> Option<ItemId> {
        self.access.id(index)
    }

    /// Returns the ids of the items that this callback is about, in the order of [`indices`](Self::indices).
    pub fn ids(&self) -> impl Iterator<Item = ItemId> {
        self.indices.iter().filter_map(|&index| self.id(index))
    }

    /// Returns the items that this callback is about, in the order of [`indices`](Self::indices).
    pub fn items(&self) -> impl Iterator<Item = &T> {
        self.indices.iter().filter_map(|&index| self.get(index))
    }

    /// Returns all items in their order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len()).filter_map(|index| self.get(index))
    }
}

/// Returns the item at `index`, which must be less than [`len`](ArrayUpdate::len).
impl<T> Index<usize> for ArrayUpdate<'_, T> {
    type Output = T;

    #[track_caller]
    fn index(&self, index: usize) -> &T {
        self.get(index).unwrap_or_else(|| no_item(index, self.len()))
    }
}

/// Returns a mutable reference to the item at `index`, as [`get_mut`](ArrayUpdate::get_mut) does. The index
/// of the item must be less than [`len`](ArrayUpdate::len).
impl<T> IndexMut<usize> for ArrayUpdate<'_, T> {
    #[track_caller]
    fn index_mut(&mut self, index: usize) -> &mut T {
        let len = self.len();
        self.get_mut(index).unwrap_or_else(|| no_item(index, len))
    }
}

impl<T> fmt::Debug for ArrayUpdate<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArrayUpdate")
            .field("indices", &self.indices)
            .field("len", &self.len())
            .field("old_len", &self.old_len)
            .field("final_len", &self.final_len)
            .finish()
    }
}
