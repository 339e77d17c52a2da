//! [`ItemMut`]: a mutable reference to an item that marks the item at the first write.
//!
//! *Invariant:* only `ItemMut::unmarked` returns a `&mut T` without marking the item.

use std::cell::Cell;
use std::fmt;
use std::ops::{Deref, DerefMut};

use repl_core::ItemId;

use super::item_log::ItemLog;

/// A mutable reference to an item. The first write through an `ItemMut` marks the item, so that the item is
/// sent. Reading an item does not mark it.
///
/// An `ItemMut` dereferences to the item. Because of this, call the functions of `ItemMut` itself with the
/// type name, for example `ItemMut::id(&item)`.
///
/// ```
/// # use repl_fastarray as repl;
/// use repl::{FastArray, ItemMut};
///
/// let mut scores: FastArray<u32> = FastArray::from([10, 20, 30]);
/// for mut score in &mut scores {
///     if *score > 15 {
///         *score += ItemMut::id(&score).number(); // this write marks the item
///     }
/// }
/// assert_eq!(scores, [10, 22, 33]);
/// ```
pub struct ItemMut<'a, T> {
    item: &'a mut T,
    index: usize,
    mark: Mark<'a>,
    is_marked: bool,
}

/// The data that a guard needs to mark its item.
#[derive(Clone, Copy)]
pub(crate) struct Mark<'a> {
    pub(crate) id: ItemId,
    /// The position that the log records for the item: its index, or its key in an ordered array.
    pub(crate) position: usize,
    /// The number of items in the array that contains the item.
    pub(crate) len: usize,
    /// The change log of the array. All guards of the array share its log.
    pub(crate) log: &'a Cell<ItemLog>,
}

impl<'a, T> ItemMut<'a, T> {
    /// Returns a guard for the item at `index`, which is marked with `mark`.
    pub(crate) fn new(item: &'a mut T, index: usize, mark: Mark<'a>) -> Self {
        Self { item, index, mark, is_marked: false }
    }
}

impl<T> ItemMut<'_, T> {
    /// Returns the id of the item.
    #[must_use]
    pub fn id(this: &Self) -> ItemId {
        this.mark.id
    }

    /// Returns the index that the item had when this guard was made.
    #[must_use]
    pub fn index(this: &Self) -> usize {
        this.index
    }

    /// Marks the item as if it were written to.
    pub fn mark(this: &mut Self) {
        if !this.is_marked {
            let Mark { id, position, len, log } = this.mark;
            let mut taken = log.take();
            taken.touch(id, position, len);
            log.set(taken);
            this.is_marked = true;
        }
    }

    /// Returns a mutable reference to the item without marking it. Until the item is marked in another way,
    /// it is not certain that a write through this reference is sent.
    #[must_use]
    pub fn unmarked(this: &mut Self) -> &mut T {
        this.item
    }
}

impl<T> Deref for ItemMut<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.item
    }
}

impl<T> DerefMut for ItemMut<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        Self::mark(self);
        self.item
    }
}

impl<T: fmt::Debug> fmt::Debug for ItemMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.item.fmt(f)
    }
}
