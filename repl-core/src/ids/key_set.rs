//! Sets of the keys of a map.
//!
//! *Invariant:* a set that stands for all existing keys still stands for all of them after any subtraction.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::collections::BTreeSet;

use crate::ids::identity::IdSet;
use crate::ids::key::KeyBits;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeySet {
    /// Whether the set stands for all keys that exist, in addition to the keys that it lists.
    all: bool,
    keys: BTreeSet<KeyBits>,
}

impl IdSet<KeyBits> for KeySet {
    const CAN_BE_ALL: bool = true;

    /// Returns the set that stands for all keys that exist. A changelist needs this set, because it does not
    /// know which keys exist until it is checked against the object.
    fn all() -> Self {
        Self { all: true, ..Self::default() }
    }

    fn is_all(&self) -> bool {
        self.all
    }

    fn of(ascending: impl Iterator<Item = KeyBits>) -> Self {
        Self { all: false, keys: ascending.collect() }
    }

    fn is_empty(&self) -> bool {
        !self.all && self.keys.is_empty()
    }

    fn count(&self) -> usize {
        self.keys.len().saturating_add(usize::from(self.all))
    }

    fn stretch_count(&self) -> usize {
        self.keys.len()
    }

    /// Estimates the memory of the set. Assumes that keys are short and that the tree is half full.
    fn heap_bytes(&self) -> usize {
        self.keys.len().saturating_mul(2).saturating_mul(size_of::<KeyBits>())
    }

    fn contains(&self, id: &KeyBits) -> bool {
        self.all || self.keys.contains(id)
    }

    fn insert_anywhere(&mut self, id: KeyBits) {
        self.keys.insert(id);
    }

    fn union(&mut self, other: &Self) {
        if other.all {
            *self = Self::all();
        }
        self.keys.extend(other.keys.iter().cloned());
    }

    fn subtract(&mut self, other: &Self) {
        if other.keys.len() < self.keys.len() {
            other.keys.iter().for_each(|key| _ = self.keys.remove(key));
        } else {
            self.keys.retain(|key| !other.keys.contains(key));
        }
    }

    fn stretches(&self) -> impl DoubleEndedIterator<Item = (KeyBits, KeyBits)> {
        self.keys.iter().map(|key| (key.clone(), key.clone()))
    }

    fn iter(&self) -> impl Iterator<Item = KeyBits> + Clone {
        self.keys.iter().cloned()
    }

    fn first(&self, count: usize) -> Self {
        let keys: BTreeSet<KeyBits> = self.keys.iter().take(count).cloned().collect();
        Self { all: self.all && keys.len() < count, keys }
    }

    fn skip(&mut self, count: usize) {
        if (0..count).any(|_| self.keys.pop_first().is_none()) {
            self.all = false;
        }
    }
}
