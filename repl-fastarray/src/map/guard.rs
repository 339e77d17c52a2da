//! Guards for the values of a map, and iterators that return them.
//!
//! *Invariant:* only `ValueMut::unmarked` returns a `&mut V` without recording the entry.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::hash_map;
use std::fmt;
use std::ops::{Deref, DerefMut};

use super::notes::Notes;

/// A mutable reference to a value of a [`ReplicatedMap`](super::ReplicatedMap). The first write through a
/// `ValueMut` records the entry, so that it is sent. Reading the value does not record it.
///
/// A `ValueMut` dereferences to the value. Because of this, call the functions of `ValueMut` itself with the
/// type name, for example `ValueMut::mark(&mut value)`.
pub struct ValueMut<'a, K: Clone, V> {
    value: &'a mut V,
    /// The key of the entry, or `None` if the entry is already recorded.
    key: Option<Cow<'a, K>>,
    len: usize,
    notes: &'a Cell<Notes<K>>,
}

impl<'a, K: Clone, V> ValueMut<'a, K, V> {
    /// Returns a guard for the value of the entry with the key `key`. The map has `len` entries.
    pub(super) fn new(value: &'a mut V, key: Cow<'a, K>, len: usize, notes: &'a Cell<Notes<K>>) -> Self {
        Self { value, key: Some(key), len, notes }
    }
}

impl<K: Clone + PartialEq, V> ValueMut<'_, K, V> {
    /// Records the entry as if it were written to.
    pub fn mark(this: &mut Self) {
        if let Some(key) = this.key.take() {
            let mut notes = this.notes.take();
            notes.touch(this.len, || key.into_owned());
            this.notes.set(notes);
        }
    }
}

impl<K: Clone, V> ValueMut<'_, K, V> {
    /// Returns a mutable reference to the value without recording the entry. Until the entry is recorded in
    /// another way, it is not certain that a write through this reference is sent.
    #[must_use]
    pub fn unmarked(this: &mut Self) -> &mut V {
        this.value
    }
}

impl<K: Clone, V> Deref for ValueMut<'_, K, V> {
    type Target = V;

    fn deref(&self) -> &V {
        self.value
    }
}

impl<K: Clone + PartialEq, V> DerefMut for ValueMut<'_, K, V> {
    fn deref_mut(&mut self) -> &mut V {
        Self::mark(self);
        self.value
    }
}

impl<K: Clone, V: fmt::Debug> fmt::Debug for ValueMut<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

/// An iterator over the entries of a map, with guards for their values. [`ReplicatedMap::iter_mut`] returns
/// this iterator.
///
/// [`ReplicatedMap::iter_mut`]: super::ReplicatedMap::iter_mut
pub struct IterMut<'a, K, V> {
    pub(super) entries: hash_map::IterMut<'a, K, V>,
    pub(super) len: usize,
    pub(super) notes: &'a Cell<Notes<K>>,
}

impl<'a, K: Clone, V> Iterator for IterMut<'a, K, V> {
    type Item = (&'a K, ValueMut<'a, K, V>);

    fn next(&mut self) -> Option<Self::Item> {
        let (key, value) = self.entries.next()?;
        Some((key, ValueMut::new(value, Cow::Borrowed(key), self.len, self.notes)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.entries.size_hint()
    }
}

impl<K: Clone, V> ExactSizeIterator for IterMut<'_, K, V> {}

impl<K, V> fmt::Debug for IterMut<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IterMut").field("left", &self.entries.len()).finish()
    }
}

/// An iterator over guards for the values of a map. [`ReplicatedMap::values_mut`] returns this iterator.
///
/// [`ReplicatedMap::values_mut`]: super::ReplicatedMap::values_mut
#[derive(Debug)]
pub struct ValuesMut<'a, K, V>(pub(super) IterMut<'a, K, V>);

impl<'a, K: Clone, V> Iterator for ValuesMut<'a, K, V> {
    type Item = ValueMut<'a, K, V>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(_, value)| value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<K: Clone, V> ExactSizeIterator for ValuesMut<'_, K, V> {}
