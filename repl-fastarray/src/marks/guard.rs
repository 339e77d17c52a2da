//! The guard of an item: it marks the item when that is really written to.
//!
//! Invariant: the guard lends no `&mut` to its item without a mark, but by a method whose name says so.

use std::cell::Cell;
use std::fmt;
use std::ops::{Deref, DerefMut};

use repl_core::ItemId;

use super::log::Log;

/// An item that may be written to: the first time it is, it is marked, and so sent (S138, S141). Reading marks nothing.
///
/// It stands for the item by `Deref`, so what belongs to the guard itself is written with the type's name, like `ItemMut::id(&item)`.
///
/// ```
/// use repl_fastarray::{FastArray, ItemMut};
///
/// let mut scores: FastArray<u32> = FastArray::from([10, 20, 30]);
/// for mut score in &mut scores {
///     if *score > 15 {
///         *score += ItemMut::id(&score).number(); // from here on it is marked
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

/// What it takes to mark an item.
#[derive(Clone, Copy)]
pub(crate) struct Mark<'a> {
    pub(crate) id: ItemId,
    /// Where the log is to have it.
    pub(crate) place: usize,
    /// How many items there are.
    pub(crate) len: usize,
    /// Shared by the guards of one array.
    pub(crate) log: &'a Cell<Log>,
}

impl<'a, T> ItemMut<'a, T> {
    /// An item at `index`, which is marked in this way.
    pub(crate) fn new(item: &'a mut T, index: usize, mark: Mark<'a>) -> Self {
        Self { item, index, mark, is_marked: false }
    }
}

impl<T> ItemMut<'_, T> {
    /// The item's id.
    #[must_use]
    pub fn id(this: &Self) -> ItemId {
        this.mark.id
    }

    /// Where the item stood when it was asked for.
    #[must_use]
    pub fn index(this: &Self) -> usize {
        this.index
    }

    /// Marks the item as if it were written to.
    pub fn mark(this: &mut Self) {
        if !this.is_marked {
            let Mark { id, place, len, log } = this.mark;
            let mut taken = log.take();
            taken.touch(id, place, len);
            log.set(taken);
            this.is_marked = true;
        }
    }

    /// The item without a mark: what is written to it is sent at the latest when something else marks it (S142).
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
