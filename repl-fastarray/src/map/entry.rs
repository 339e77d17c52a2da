//! [`Entry`]: the place of a key in a map, with or without a value.
//!
//! *Invariant:* every inserted entry is recorded, so that it is sent.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::hash_map;
use std::fmt;

use super::guard::ValueMut;
use super::notes::Notes;

/// The place of a key in a map, with or without a value. [`ReplicatedMap::entry`] returns it.
///
/// [`ReplicatedMap::entry`]: super::ReplicatedMap::entry
pub struct Entry<'a, K, V> {
    pub(super) place: hash_map::Entry<'a, K, V>,
    pub(super) key: K,
    pub(super) len: usize,
    pub(super) notes: &'a Cell<Notes<K>>,
}

impl<'a, K: Clone + PartialEq, V> Entry<'a, K, V> {
    /// Returns the key of the entry.
    #[must_use]
    pub fn key(&self) -> &K {
        &self.key
    }

    /// If the map has a value for this key, calls `edit` with a guard for the value.
    #[must_use]
    pub fn and_modify(mut self, edit: impl FnOnce(&mut ValueMut<'_, K, V>)) -> Self {
        if let hash_map::Entry::Occupied(known) = &mut self.place {
            edit(&mut ValueMut::new(known.get_mut(), Cow::Borrowed(&self.key), self.len, self.notes));
        }
        self
    }

    /// Inserts `value` if the map has no value for this key. Returns a guard for the value of the entry.
    pub fn or_insert(self, value: V) -> ValueMut<'a, K, V> {
        self.or_insert_with(|| value)
    }

    /// If the map has no value for this key, calls `make` and inserts the result. Returns a guard for the
    /// value of the entry.
    pub fn or_insert_with(self, make: impl FnOnce() -> V) -> ValueMut<'a, K, V> {
        let Self { place, key, len, notes } = self;
        let guard = |value| ValueMut::new(value, Cow::Owned(key), len, notes);
        match place {
            hash_map::Entry::Occupied(known) => guard(known.into_mut()),
            hash_map::Entry::Vacant(place) => {
                let mut value = guard(place.insert(make()));
                ValueMut::mark(&mut value);
                value
            }
        }
    }

    /// Inserts the default value if the map has no value for this key. Returns a guard for the value of the
    /// entry.
    pub fn or_default(self) -> ValueMut<'a, K, V>
    where
        V: Default,
    {
        self.or_insert_with(V::default)
    }
}

impl<K: fmt::Debug, V> fmt::Debug for Entry<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Entry").field(&self.key).finish()
    }
}
