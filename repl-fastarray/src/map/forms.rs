//! Trait implementations of a map: conversions, comparisons and iterators. All of them treat the map as its
//! entries.
//!
//! *Invariant:* a copy of a map is a separate map, and does not copy the notes of its source.

use std::collections::{HashMap, hash_map};
use std::fmt;
use std::hash::{BuildHasher, Hash};

use super::{IterMut, ReplicatedMap, ValueMut};

impl<K, V, S: Default> Default for ReplicatedMap<K, V, S> {
    fn default() -> Self {
        Self::of(HashMap::default())
    }
}

/// Clones the entries. If the clone is assigned over its source, all entries are compared once, and equal
/// entries are not sent.
impl<K: Clone, V: Clone, S: Clone> Clone for ReplicatedMap<K, V, S> {
    fn clone(&self) -> Self {
        Self::of(self.map.clone())
    }
}

impl<K: fmt::Debug, V: fmt::Debug, S> fmt::Debug for ReplicatedMap<K, V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.map.fmt(f)
    }
}

impl<K: Eq + Hash, V: PartialEq, S: BuildHasher> PartialEq for ReplicatedMap<K, V, S> {
    fn eq(&self, other: &Self) -> bool {
        self.map == other.map
    }
}

impl<K: Eq + Hash, V: Eq, S: BuildHasher> Eq for ReplicatedMap<K, V, S> {}

impl<K: Eq + Hash, V: PartialEq, S: BuildHasher> PartialEq<HashMap<K, V, S>> for ReplicatedMap<K, V, S> {
    fn eq(&self, other: &HashMap<K, V, S>) -> bool {
        self.map == *other
    }
}

impl<K, V, S> From<HashMap<K, V, S>> for ReplicatedMap<K, V, S> {
    fn from(map: HashMap<K, V, S>) -> Self {
        Self::of(map)
    }
}

impl<K, V, S> From<ReplicatedMap<K, V, S>> for HashMap<K, V, S> {
    fn from(map: ReplicatedMap<K, V, S>) -> Self {
        map.map
    }
}

impl<K: Eq + Hash, V, const N: usize> From<[(K, V); N]> for ReplicatedMap<K, V> {
    fn from(entries: [(K, V); N]) -> Self {
        Self::of(HashMap::from(entries))
    }
}

impl<K: Eq + Hash, V, S: BuildHasher + Default> FromIterator<(K, V)> for ReplicatedMap<K, V, S> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        Self::of(entries.into_iter().collect())
    }
}

impl<K: Eq + Hash + Clone, V, S: BuildHasher> Extend<(K, V)> for ReplicatedMap<K, V, S> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        entries.into_iter().for_each(|(key, value)| drop(self.insert(key, value)));
    }
}

impl<'a, K: Eq + Hash + Copy, V: Copy, S: BuildHasher> Extend<(&'a K, &'a V)> for ReplicatedMap<K, V, S> {
    fn extend<I: IntoIterator<Item = (&'a K, &'a V)>>(&mut self, entries: I) {
        self.extend(entries.into_iter().map(|(key, value)| (*key, *value)));
    }
}

impl<K, V, S> IntoIterator for ReplicatedMap<K, V, S> {
    type Item = (K, V);
    type IntoIter = hash_map::IntoIter<K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.map.into_iter()
    }
}

impl<'a, K, V, S> IntoIterator for &'a ReplicatedMap<K, V, S> {
    type Item = (&'a K, &'a V);
    type IntoIter = hash_map::Iter<'a, K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.map.iter()
    }
}

impl<'a, K: Eq + Hash + Clone, V, S: BuildHasher> IntoIterator for &'a mut ReplicatedMap<K, V, S> {
    type Item = (&'a K, ValueMut<'a, K, V>);
    type IntoIter = IterMut<'a, K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}
