//! The table of ids: something small for each, where whoever asks looks at one cache line.
//!
//! Invariant: a cell that is in use is reached from the home of its id through cells in use alone, and some cells are free.

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

use repl_core::__private::preload;
use repl_core::ItemId;

const LEAST_CELLS: usize = 8;
/// So many are kept for the next use of a table that is cleared.
const MOST_KEPT: usize = 64;

/// What is known of each of many ids: open addressing, with linear probing and without graves.
///
/// A `HashMap` keeps what tells its buckets apart from them, which is one cache miss more for each question; in a large array those misses are
/// nearly all that a change costs.
#[derive(Clone, Debug)]
pub(crate) struct IdTable<V> {
    /// None, or a power of two of them.
    cells: Box<[Option<(ItemId, V)>]>,
    len: usize,
}

/// Where an id is looked for first. A secret of this process is in it: ids on a client are chosen by its server, which must not be able to
/// choose such that meet.
fn hash(id: ItemId) -> usize {
    static SECRET: OnceLock<u64> = OnceLock::new();
    let secret = *SECRET.get_or_init(|| RandomState::new().hash_one(0) | 1);
    let product = u128::from(u64::from(id.number()) ^ secret.rotate_left(32)) * u128::from(secret);
    (product as u64 ^ (product >> 64) as u64) as usize
}

/// How many ids go into so many cells: where half of them are free most ids are at home, and the processor guesses so.
fn room(cells: usize) -> usize {
    cells / 2
}

impl<V> Default for IdTable<V> {
    fn default() -> Self {
        Self { cells: Box::default(), len: 0 }
    }
}

impl<V: Copy> IdTable<V> {
    /// An empty table with room for `len` ids.
    pub(crate) fn with_capacity(len: usize) -> Self {
        let mut table = Self::default();
        let mut cells = LEAST_CELLS;
        while room(cells) < len {
            cells *= 2;
        }
        table.resize(cells);
        table
    }

    /// Somebody will ask for `id` soon.
    pub(crate) fn preload(&self, id: ItemId) {
        if let Some(cell) = self.cells.get(self.home(id)) {
            preload(cell);
        }
    }

    /// What is known of `id`. O(1).
    pub(crate) fn get(&self, id: ItemId) -> Option<V> {
        self.cells[self.find(id)?].map(|(_, value)| value)
    }

    /// From now on this is known of `id`, whatever was before. O(1).
    pub(crate) fn set(&mut self, id: ItemId, value: V) {
        if self.len >= room(self.cells.len()) {
            self.resize((self.cells.len() * 2).max(LEAST_CELLS));
        }
        if let Some(at) = self.find(id) {
            let known = self.cells[at].replace((id, value));
            self.len += usize::from(known.is_none());
        }
    }

    /// Takes `id` out. O(1).
    pub(crate) fn remove(&mut self, id: ItemId) {
        let Some(mut hole) = self.find(id).filter(|&at| self.cells[at].is_some()) else { return };
        let mask = self.cells.len() - 1;
        let mut at = hole;
        loop {
            at = (at + 1) & mask;
            let Some((next, _)) = self.cells[at] else { break };
            // What would not be reached beyond the hole moves into it, and leaves another.
            let (from_home, from_hole) = (at.wrapping_sub(hash(next)), at.wrapping_sub(hole));
            if from_home & mask >= from_hole & mask {
                self.cells[hole] = self.cells[at];
                hole = at;
            }
        }
        self.cells[hole] = None;
        self.len -= 1;
    }

    /// Takes all ids out, and gives back the memory if that is much.
    pub(crate) fn clear(&mut self) {
        if self.cells.len() > MOST_KEPT {
            *self = Self::default();
        } else if self.len > 0 {
            self.cells.fill(None);
            self.len = 0;
        }
    }

    /// The cell in which `id` is if no other has taken it; the first if there are no cells.
    fn home(&self, id: ItemId) -> usize {
        hash(id) & self.cells.len().saturating_sub(1)
    }

    /// The cell that has `id`, or else the one that would; none if there are no cells.
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
    fn consecutive_and_far_ids_have_homes_apart() {
        let numbers = (1..=2_000).chain((1..=2_000).map(|high| high << 16));
        let homes: HashSet<_> = numbers.map(|number| hash(id(number)) & 0xfff).collect();
        assert!(homes.len() > 1_500, "4,000 ids in {} of 4,096 places", homes.len());
    }

    proptest! {
        #[test]
        fn it_has_what_a_map_has(steps in prop::collection::vec((1_u32..40, 0_u32..9), 0..400)) {
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
