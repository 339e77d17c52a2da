//! The history of an object's properties, tick by tick, leaf by leaf.
//!
//! *Invariant:* a ledger only grows. The entries of a leaf are all its values, ascending by tick, and
//! neighbouring entries differ.

use std::collections::BTreeMap;

use repl::Guid;
use repl::sim::TraceHash;

/// One leaf of an object as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    /// The property, and up to three indices into arrays.
    pub(crate) path: u64,
    /// The value, as a hash after quantisation.
    pub(crate) full: u64,
    /// The hash of the value with the reference in the leaf read as null.
    pub(crate) masked: u64,
    /// The reference in the leaf.
    pub(crate) guid: Option<Guid>,
    /// The hash of the other value that clients may keep: the neighbouring quantisation step, if the value
    /// has left it by at most a quarter of a step.
    pub(crate) kept: Option<u64>,
}

impl Leaf {
    /// Returns the leaf that stands for a missing element.
    pub(crate) const fn absent(path: u64) -> Self {
        Self { path, full: 0, masked: 0, guid: None, kept: None }
    }

    /// Returns whether a client that shows this leaf shows the value `known`. The client may lack objects
    /// that `known` refers to.
    pub(crate) fn shows(&self, known: &Self) -> bool {
        if self.full == self.masked { self.masked == known.masked } else { self.full == known.full }
    }

    /// Returns whether both leaves have the same value.
    fn is(&self, other: &Self) -> bool {
        (self.full, self.guid) == (other.full, other.guid)
    }

    /// Returns whether a client that is up to date may show this leaf if the server's value is `last`.
    pub(crate) fn may_stand_for(&self, last: &Self) -> bool {
        self.is(last) || last.kept == Some(self.full)
    }
}

/// Collects leaves in the order of their paths.
#[derive(Default)]
pub(crate) struct Leaves {
    pub(crate) list: Vec<Leaf>,
    property: u64,
}

impl Leaves {
    /// Sets the property that the next leaves belong to.
    pub(crate) fn property(&mut self, property: usize) -> &mut Self {
        self.property = (property as u64) << 48;
        self
    }

    /// Adds a leaf without references, at the given indices. Missing indices are zero.
    pub(crate) fn value(&mut self, indices: &[usize], value: &[u8]) {
        let hash = hash(value);
        self.push(indices, hash, hash, None);
    }

    /// Adds a quantised leaf: its nearest step, and the other step that clients may keep.
    pub(crate) fn step(&mut self, indices: &[usize], step: i32, kept: Option<i32>) {
        self.value(indices, &step.to_le_bytes());
        if let Some(leaf) = self.list.last_mut() {
            leaf.kept = kept.map(|step| hash(&step.to_le_bytes()));
        }
    }

    /// Adds a leaf that contains one reference or nothing.
    pub(crate) fn reference(&mut self, indices: &[usize], full: &[u8], masked: &[u8], guid: Option<Guid>) {
        self.push(indices, hash(full), hash(masked), guid);
    }

    /// Adds an entry of a map whose key is a reference. A client lacks the entry if it lacks the object of
    /// the key.
    pub(crate) fn entry(&mut self, indices: &[usize], value: &[u8], guid: Guid) {
        self.push(indices, hash(value), 0, Some(guid));
    }

    fn push(&mut self, indices: &[usize], full: u64, masked: u64, guid: Option<Guid>) {
        let path = indices
            .iter()
            .zip([32, 16, 0])
            .fold(self.property, |path, (&at, shift)| path | (at as u64) << shift);
        debug_assert!(self.list.last().is_none_or(|last| last.path < path), "leaves ascend by path");
        self.list.push(Leaf { path, full, masked, guid, kept: None });
    }
}

/// Returns the property that contains the leaf at a path.
pub(crate) const fn property_of(path: u64) -> usize {
    (path >> 48) as usize
}

/// Returns a number for a value, never the number of a missing leaf.
pub(crate) fn hash(value: &[u8]) -> u64 {
    let mut hash = TraceHash::default();
    hash.bytes(value);
    hash.value() | 1
}

/// Every value of every leaf of an object.
#[derive(Default)]
pub(crate) struct Ledger {
    entries: BTreeMap<u64, Vec<(u64, Leaf)>>,
    /// For each property, whether a client can still show the archetype's value, because conditions may hide
    /// all other values.
    is_kept: Vec<bool>,
    begun: bool,
}

impl Ledger {
    /// Records the object's leaves at `tick`.
    pub(crate) fn record(&mut self, tick: u64, leaves: &[Leaf]) {
        let mut given = leaves.iter().peekable();
        for (path, entries) in &mut self.entries {
            while given.next_if(|leaf| leaf.path < *path).is_some() {}
            let now = given.next_if(|leaf| leaf.path == *path).copied().unwrap_or(Leaf::absent(*path));
            match entries.last_mut() {
                Some((_, last)) if last.is(&now) => last.kept = now.kept,
                _ => entries.push((tick, now)),
            }
        }
        for leaf in leaves {
            let entries = self.entries.entry(leaf.path).or_default();
            if entries.is_empty() {
                if self.begun || self.is_kept.get(property_of(leaf.path)).is_some_and(|kept| *kept) {
                    entries.push((0, Leaf::absent(leaf.path)));
                }
                entries.push((tick, *leaf));
            }
        }
        self.begun = true;
    }

    /// Sets the leaves of an object as a client makes it, before it has received anything.
    pub(crate) fn begin(&mut self, leaves: &[Leaf], is_kept: Vec<bool>) {
        for leaf in leaves.iter().filter(|leaf| is_kept[property_of(leaf.path)]) {
            self.entries.insert(leaf.path, vec![(0, *leaf)]);
        }
        self.is_kept = is_kept;
    }

    /// Returns all paths with their values by tick.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (u64, &[(u64, Leaf)])> {
        self.entries.iter().map(|(&path, entries)| (path, entries.as_slice()))
    }

    /// Returns when each property last changed.
    pub(crate) fn changed_at(&self, properties: usize) -> Vec<u64> {
        let mut changed_at = vec![0; properties];
        for (path, entries) in &self.entries {
            let changed = &mut changed_at[property_of(*path)];
            *changed = entries.last().map_or(0, |(tick, _)| *tick).max(*changed);
        }
        changed_at
    }
}
