//! What an object's properties were, tick by tick, leaf by leaf.
//!
//! *Invariant:* a ledger only grows: a leaf's entries are every value it ever had, in order, each but the first unlike the one before.

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
    /// The same with the reference in it read as null.
    pub(crate) masked: u64,
    /// The reference in it.
    pub(crate) guid: Option<Guid>,
}

impl Leaf {
    /// An element that is not there.
    pub(crate) const fn absent(path: u64) -> Self {
        Self { path, full: 0, masked: 0, guid: None }
    }

    /// Whether a client that shows this leaf shows `known`, which may refer to what the client does not have.
    pub(crate) fn shows(&self, known: &Self) -> bool {
        if self.full == self.masked { self.masked == known.masked } else { self.full == known.full }
    }
}

/// Collects leaves in the order of their paths.
#[derive(Default)]
pub(crate) struct Leaves {
    pub(crate) list: Vec<Leaf>,
    property: u64,
}

impl Leaves {
    /// The leaves that follow are of this property.
    pub(crate) fn property(&mut self, property: usize) -> &mut Self {
        self.property = (property as u64) << 48;
        self
    }

    /// A leaf without references at the given indices; of absent indices, zero.
    pub(crate) fn value(&mut self, indices: &[usize], value: &[u8]) {
        let hash = hash(value);
        self.push(indices, hash, hash, None);
    }

    /// A leaf whose only content is, or may be, one reference.
    pub(crate) fn reference(&mut self, indices: &[usize], full: &[u8], masked: &[u8], guid: Option<Guid>) {
        self.push(indices, hash(full), hash(masked), guid);
    }

    fn push(&mut self, indices: &[usize], full: u64, masked: u64, guid: Option<Guid>) {
        let path = indices
            .iter()
            .zip([32, 16, 0])
            .fold(self.property, |path, (&at, shift)| path | (at as u64) << shift);
        debug_assert!(self.list.last().is_none_or(|last| last.path < path), "leaves ascend by path");
        self.list.push(Leaf { path, full, masked, guid });
    }
}

/// The property that a path leads into.
pub(crate) const fn property_of(path: u64) -> usize {
    (path >> 48) as usize
}

/// A number for a value; never the one that stands for an absent leaf.
pub(crate) fn hash(value: &[u8]) -> u64 {
    let mut hash = TraceHash::default();
    hash.bytes(value);
    hash.value() | 1
}

/// Every value of every leaf of an object.
#[derive(Default)]
pub(crate) struct Ledger {
    entries: BTreeMap<u64, Vec<(u64, Leaf)>>,
    /// Whether each property begins as the archetype has it, because conditions may leave it so.
    is_kept: Vec<bool>,
    begun: bool,
}

impl Ledger {
    /// The object's leaves were these at `tick`.
    pub(crate) fn record(&mut self, tick: u64, leaves: &[Leaf]) {
        let mut given = leaves.iter().peekable();
        for (path, entries) in &mut self.entries {
            while given.next_if(|leaf| leaf.path < *path).is_some() {}
            let now = given.next_if(|leaf| leaf.path == *path).copied().unwrap_or(Leaf::absent(*path));
            if entries.last().is_none_or(|(_, last)| *last != now) {
                entries.push((tick, now));
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

    /// The leaves of an object as a client makes it, before it has received anything: what conditions leave as it was.
    pub(crate) fn begin(&mut self, leaves: &[Leaf], is_kept: Vec<bool>) {
        for leaf in leaves.iter().filter(|leaf| is_kept[property_of(leaf.path)]) {
            self.entries.insert(leaf.path, vec![(0, *leaf)]);
        }
        self.is_kept = is_kept;
    }

    /// All paths with their values by tick.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (u64, &[(u64, Leaf)])> {
        self.entries.iter().map(|(&path, entries)| (path, entries.as_slice()))
    }

    /// When the property last changed.
    pub(crate) fn changed_at(&self, property: usize) -> u64 {
        let of_property = self.entries.iter().filter(|(path, _)| property_of(**path) == property);
        of_property.filter_map(|(_, entries)| entries.last()).map(|(tick, _)| *tick).max().unwrap_or(0)
    }
}
