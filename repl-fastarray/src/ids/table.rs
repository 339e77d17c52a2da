//! A hash table from item ids to small values. Most lookups in the table read only one cache line.
//!
//! *Invariant:* all cells from the home cell of an id (where a search starts) to the cell that contains the
//! id are in use. At least one cell of the table is free.

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

use repl_core::__private::preload;
use repl_core::ItemId;

const MIN_CELLS: usize = 8;
/// A table that is cleared keeps the memory for up to this many cells.
const MAX_KEPT_CELLS: usize = 64;

/// A map from ids to values. The map is a hash table with open addressing and linear probing, without
/// tombstones.
///
/// A `HashMap` stores its control bytes apart from its buckets, which costs one more cache miss for each
/// lookup. In a large array cache misses are almost the whole cost of a change.
#[derive(Clone, Debug)]
pub(crate) struct IdTable<V> {
    /// The cells of the table, each with an id and its value, or free. The number of cells is zero or a power
    /// of two.
    cells: Box<[Option<(ItemId, V)>]>,
    len: usize,
}

/// Returns the hash of an id. The hash is seeded with a secret of this process: a server chooses the ids on
/// its clients, and must not be able to force collisions.
fn hash(id: ItemId) -> usize {
    static SECRET: OnceLock<u64> = OnceLock::new();
    let secret = *SECRET.get_or_init(|| RandomState::new().hash_one(0) | 1);
    let product = u128::from(u64::from(id.number()) ^ secret.rotate_left(32)) * u128::from(secret);
    (product as u64 ^ (product >> 64) as u64) as usize
}

/// Returns how many ids a table of `cells` cells may hold. The table stays at most half full, so most lookups
/// find the id in its home cell, and the processor predicts that branch well.
fn room(cells: usize) -> usize {
    cells / 2
}

impl<V> Default for IdTable<V> {
    fn default() -> Self {
        Self { cells: Box::default(), len: 0 }
    }
}

impl<V: Copy> IdTable<V> {
    /// Returns an empty table with room for `len` ids.
    pub(crate) fn with_capacity(len: usize) -> Self {
        let mut table = Self::default();
        let mut cells = MIN_CELLS;
        while room(cells) < len {
            cells *= 2;
        }
        table.resize(cells);
        table
    }

    /// Prefetches the home cell of `id` into the processor's cache, because a lookup follows soon.
    pub(crate) fn preload(&self, id: ItemId) {
        if let Some(cell) = self.cells.get(self.home(id)) {
            preload(cell);
        }
    }

    /// Returns the value that is stored for `id`. Costs O(1).
    pub(crate) fn get(&self, id: ItemId) -> Option<V> {
        self.cells[self.find(id)?].map(|(_, value)| value)
    }

    /// Stores a value for `id`. Costs O(1), amortised.
    pub(crate) fn set(&mut self, id: ItemId, value: V) {
        if self.len >= room(self.cells.len()) {
            self.resize((self.cells.len() * 2).max(MIN_CELLS));
        }
        if let Some(at) = self.find(id) {
            let known = self.cells[at].replace((id, value));
            self.len += usize::from(known.is_none());
        }
    }

    /// Removes the entry of `id` from the table. Costs O(1).
    pub(crate) fn remove(&mut self, id: ItemId) {
        let Some(mut hole) = self.find(id).filter(|&at| self.cells[at].is_some()) else { return };
        let mask = self.cells.len() - 1;
        let mut at = hole;
        loop {
            at = (at + 1) & mask;
            let Some((next, _)) = self.cells[at] else { break };
            // If the removed cell would hide the entry at `at` from lookups, this entry moves into the
            // removed cell, and its old cell becomes free instead.
            let (from_home, from_hole) = (at.wrapping_sub(hash(next)), at.wrapping_sub(hole));
            if from_home & mask >= from_hole & mask {
                self.cells[hole] = self.cells[at];
                hole = at;
            }
        }
        self.cells[hole] = None;
        self.len -= 1;
    }

    /// Removes all ids from the table. `clear` frees the memory if the table is large.
    pub(crate) fn clear(&mut self) {
        if self.cells.len() > MAX_KEPT_CELLS {
            *self = Self::default();
        } else if self.len > 0 {
            self.cells.fill(None);
            self.len = 0;
        }
    }

    /// Returns the home cell of `id`, where a search for `id` starts. Returns 0 if the table has no cells.
    fn home(&self, id: ItemId) -> usize {
        hash(id) & self.cells.len().saturating_sub(1)
    }

    /// Returns the cell of `id`, or the free cell into which `id` would be inserted. Returns `None` if the
    /// table has no cells.
    fn find(&self, id: ItemId) -> Option<usize> {
        let mask = self.cells.len().checked_sub(1)?;
        let mut at = self.home(id);
        while self.cells[at].is_some_and(|(other, _)| other != id) {
            at = (at + 1) & mask;
        }
        Some(at)
    }

    fn resize(&mut self, cells: usize) {
        let old = std::mem::replace(&mut self.cells, vec![None; cells].into_boxed_slice());
        for (id, value) in old.into_iter().flatten() {
            if let Some(at) = self.find(id) {
                self.cells[at] = Some((id, value));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use proptest::prelude::*;

    use super::*;

    fn id(number: u32) -> ItemId {
        ItemId::new(number).expect("not zero")
    }

    #[test]
    fn consecutive_and_distant_ids_have_different_home_cells() {
        let numbers = (1..=2_000).chain((1..=2_000).map(|high| high << 16));
        let homes: HashSet<_> = numbers.map(|number| hash(id(number)) & 0xfff).collect();
        assert!(homes.len() > 1_500, "4,000 ids in {} of 4,096 cells", homes.len());
    }

    proptest! {
        #[test]
        fn a_table_equals_a_map(steps in prop::collection::vec((1_u32..40, 0_u32..9), 0..400)) {
            let (mut table, mut map) = (IdTable::default(), HashMap::new());
            for (number, value) in steps {
                if number == 1 && value == 1 {
                    table.clear();
                    map.clear();
                } else if value == 0 {
                    table.remove(id(number));
                    map.remove(&number);
                } else {
                    table.set(id(number), value);
                    map.insert(number, value);
                }
                prop_assert_eq!(table.len, map.len());
                for number in 1..40 {
                    prop_assert_eq!(table.get(id(number)), map.get(&number).copied());
                }
            }
        }
    }
}
