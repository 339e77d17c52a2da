//! Lists that are cleared and filled again in every tick. Removed items stay in memory, so that their buffers
//! can be used again.
//!
//! *Invariant:* the items at index `len` and above have old content, so an item must be cleared before it is
//! used.

use std::ops::{Deref, DerefMut};

use repl_core::Changelist;

/// A list of `len` items, followed by unused items.
#[derive(Debug)]
pub(crate) struct Recycled<T> {
    items: Vec<T>,
    len: usize,
    /// The greatest length of the list since unused items were last freed (see
    /// [`ROUND_TICKS`](repl_link::parts::ROUND_TICKS)).
    most: usize,
}

impl<T> Default for Recycled<T> {
    fn default() -> Self {
        Self { items: Vec::new(), len: 0, most: 0 }
    }
}

impl<T> Deref for Recycled<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.items[..self.len]
    }
}

impl<T> DerefMut for Recycled<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.items[..self.len]
    }
}

impl<T> Recycled<T> {
    /// Returns the first unused item. [`keep`](Self::keep) adds it to the list.
    #[inline]
    pub(crate) fn next(&self) -> Option<&T> {
        self.items.get(self.len)
    }

    /// Returns the first unused item. If there is none, adds the one that `make` returns.
    #[inline]
    pub(crate) fn next_or(&mut self, make: impl FnOnce() -> T) -> &mut T {
        if self.len >= self.items.len() {
            self.make_next(make);
        }
        &mut self.items[self.len]
    }

    /// Adds the first unused item to the end of the list and returns it. If there is none, adds the one that
    /// `make` returns.
    #[inline]
    pub(crate) fn keep_or(&mut self, make: impl FnOnce() -> T) -> &mut T {
        let at = self.len;
        self.len += 1;
        if at >= self.items.len() {
            self.make_next(make);
        }
        &mut self.items[at]
    }

    #[cold]
    fn make_next(&mut self, make: impl FnOnce() -> T) {
        self.items.push(make());
    }

    /// Adds the first unused item to the end of the list and returns it, if there is one and `is_kept`
    /// returns true for it.
    #[inline]
    pub(crate) fn keep_if(&mut self, is_kept: impl FnOnce(&T) -> bool) -> Option<&T> {
        let item = self.items.get(self.len).filter(|item| is_kept(item))?;
        self.len += 1;
        Some(item)
    }

    /// Adds the first unused item to the end of the list.
    #[inline]
    pub(crate) fn keep(&mut self) {
        debug_assert!(self.len < self.items.len(), "there is a next item");
        self.len += 1;
    }

    /// Moves all items of `other` to the end of this list, and moves unused items of this list to `other` in
    /// exchange. `make` is called if this list has no unused item.
    #[cfg(feature = "rayon")]
    pub(crate) fn take_in(&mut self, other: &mut Self, make: impl Fn() -> T) {
        for item in other.iter_mut() {
            std::mem::swap(self.next_or(&make), item);
            self.keep();
        }
        other.clear();
    }

    /// Makes all items unused, without freeing them.
    pub(crate) fn clear(&mut self) {
        self.most = self.most.max(self.len);
        self.len = 0;
    }

    /// Frees the unused items that were not needed since the last call. `shrink` frees memory of the unused
    /// items that remain.
    pub(crate) fn end_round(&mut self, shrink: impl FnMut(&mut T)) {
        self.items.truncate(std::mem::take(&mut self.most).max(self.len));
        if self.items.capacity() > 4 * self.items.len() {
            self.items.shrink_to(2 * self.items.len());
        }
        self.items.iter_mut().skip(self.len).for_each(shrink);
    }

    /// Returns all items, followed by the unused items.
    pub(crate) fn with_unused(&self) -> &[T] {
        &self.items
    }

    pub(crate) fn capacity(&self) -> usize {
        self.items.capacity()
    }
}

/// The greatest number of bytes that an unused changelist keeps on the heap.
const MOST_UNUSED_BYTES: usize = 16 << 10;

pub(crate) fn free_large(list: &mut Changelist) {
    if list.heap_bytes() > MOST_UNUSED_BYTES {
        *list = Changelist::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(list: &mut Recycled<Vec<u32>>, number: u32) {
        let item = list.next_or(Vec::new);
        item.clear();
        item.push(number);
        list.keep();
    }

    #[test]
    fn items_keep_their_memory_until_a_round_ends_in_which_they_were_not_needed() {
        let mut list = Recycled::default();
        (0..40).for_each(|number| push(&mut list, number));
        assert!(list.iter().map(|item| item[0]).eq(0..40));
        let memory = list[0].as_ptr();
        list.clear();
        assert!(list.is_empty());
        push(&mut list, 7);
        assert_eq!((&*list, list[0].as_ptr()), (&[vec![7]][..], memory));
        list.clear();
        list.end_round(|_| {});
        assert_eq!(list.items.len(), 40, "all were needed in this round");
        push(&mut list, 8);
        list.clear();
        let mut unused = Vec::new();
        list.end_round(|item| unused.append(item));
        assert_eq!((list.items.len(), unused), (1, vec![8]));
        assert!(list.capacity() < 40);
    }

    #[test]
    fn an_unused_item_is_in_the_list_only_after_it_was_kept() {
        let mut list = Recycled::default();
        *list.next_or(|| 1) = 2;
        assert!(list.is_empty());
        assert_eq!(list.next(), Some(&2), "what an earlier user has left");
        list.keep();
        assert_eq!(*list, [2]);
    }
}
