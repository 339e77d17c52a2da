//! What an array's callbacks see of the update that is being received.
//!
//! Invariant: nothing that can be done here changes how many items there are, or where they stand (S179).

use std::fmt;
use std::ops::{Index, IndexMut};

use repl_core::ItemId;

use crate::places::no_item;

/// Where the items of an update stand, whatever kind of array it is.
pub(crate) trait Standing<T> {
    fn len(&self) -> usize;
    fn item(&self, index: usize) -> Option<&T>;
    fn item_mut(&mut self, index: usize) -> Option<&mut T>;
    fn id(&self, index: usize) -> Option<ItemId>;
}

/// An array in the middle of an update, as its callbacks see it: items can be read and written, but not added, removed or moved.
pub struct ArrayUpdate<'a, T> {
    pub(crate) standing: &'a mut dyn Standing<T>,
    pub(crate) indices: &'a [usize],
    pub(crate) old_len: usize,
    pub(crate) final_len: usize,
}

impl<'a, T> ArrayUpdate<'a, T> {
    /// Where the items stand that the callback is about: in the order in which they were told of.
    #[must_use]
    pub fn indices(&self) -> &'a [usize] {
        self.indices
    }

    /// How many items there are now, with those that came and those that are about to go.
    #[must_use]
    pub fn len(&self) -> usize {
        self.standing.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many items there were before the update.
    #[must_use]
    pub fn old_len(&self) -> usize {
        self.old_len
    }

    /// How many items there will be after it.
    #[must_use]
    pub fn final_len(&self) -> usize {
        self.final_len
    }

    /// The item at `index`.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&T> {
        self.standing.item(index)
    }

    /// The item at `index`, to be written to, as a client may: what arrives later replaces the change.
    #[must_use]
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        self.standing.item_mut(index)
    }

    /// The id of the item at `index`.
    #[must_use]
    pub fn id(&self, index: usize) -> Option<ItemId> {
        self.standing.id(index)
    }

    /// The ids of the items that the callback is about, in the order of [`indices`](Self::indices).
    pub fn ids(&self) -> impl Iterator<Item = ItemId> {
        self.indices.iter().filter_map(|&index| self.id(index))
    }

    /// The items that the callback is about, in the order of [`indices`](Self::indices).
    pub fn items(&self) -> impl Iterator<Item = &T> {
        self.indices.iter().filter_map(|&index| self.get(index))
    }

    /// All items, in their order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len()).filter_map(|index| self.get(index))
    }
}

/// The item at an index below [`len`](ArrayUpdate::len).
impl<T> Index<usize> for ArrayUpdate<'_, T> {
    type Output = T;

    #[track_caller]
    fn index(&self, index: usize) -> &T {
        self.get(index).unwrap_or_else(|| no_item(index, self.len()))
    }
}

/// The item at an index below [`len`](ArrayUpdate::len), to be written to as [`get_mut`](ArrayUpdate::get_mut) says.
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
