//! The index of a fast array's item ids: a table that returns the position of an id without a search through
//! all ids.
//!
//! *Invariant:* the index has an entry for each id of the array, and no other entries. The position of each
//! id is at most `drift` away from the position that is stored in the index.

use repl_core::ItemId;

use crate::ids::IdTable;

/// The greatest `drift` of an index. Searching this many ids is faster than building a new index.
pub(crate) const MAX_DRIFT: usize = 256;

/// A table of the position of each id. A stored position is exact, or wrong by at most `drift`.
pub(crate) struct Index {
    indices: IdTable<u32>,
    drift: usize,
}

impl Index {
    /// Builds an index that finds the positions of the ids `ids`. Costs O(n).
    pub(crate) fn of(ids: &[ItemId]) -> Self {
        let mut indices = IdTable::with_capacity(ids.len());
        ids.iter().zip(0..).for_each(|(&id, at)| indices.set(id, at));
        Self { indices, drift: 0 }
    }

    /// Returns the position of `id` in `ids`, the list for which this index was built. Costs O(drift).
    pub(crate) fn position(&self, id: ItemId, ids: &[ItemId]) -> Option<usize> {
        let index = self.indices.get(id)? as usize;
        // If no item has moved, the stored position is exact, and `ids` need not be read.
        if self.drift == 0 { Some(index) } else { near(id, index, self.drift, ids) }
    }

    /// Prefetches the entry of `id` into the processor's cache, because a lookup follows soon.
    pub(crate) fn preload(&self, id: ItemId) {
        self.indices.preload(id);
    }

    pub(crate) fn set(&mut self, id: ItemId, at: usize) {
        self.indices.set(id, at as u32);
    }

    pub(crate) fn remove(&mut self, id: ItemId) {
        self.indices.remove(id);
    }

    /// Records that all ids after some position have moved by `distance` positions. `shifted` returns false
    /// if the index is now so inexact that building a new index is better.
    #[must_use]
    pub(crate) fn shifted(&mut self, distance: usize) -> bool {
        self.drift = self.drift.saturating_add(distance);
        self.drift <= MAX_DRIFT
    }
}

/// Returns the position of `id` in `ids` if it is at most `drift` away from the position `index`. Costs
/// O(drift).
pub(crate) fn near(id: ItemId, index: usize, drift: usize, ids: &[ItemId]) -> Option<usize> {
    if ids.get(index) == Some(&id) {
        return Some(index);
    }
    let first = index.saturating_sub(drift).min(ids.len());
    let end = index.saturating_add(drift).saturating_add(1).min(ids.len());
    ids[first..end].iter().position(|&other| other == id).map(|at| first + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u32) -> ItemId {
        ItemId::new(number).expect("not zero")
    }

    #[test]
    fn shifted_ids_are_found_near_their_recorded_position_and_not_beyond() {
        let ids: Vec<_> = (1..=100).map(id).collect();
        assert_eq!(near(id(51), 50, 0, &ids), Some(50));
        assert_eq!(near(id(51), 48, 2, &ids), Some(50));
        assert_eq!(near(id(51), 53, 3, &ids), Some(50));
        assert_eq!(near(id(51), 47, 2, &ids), None);
        assert_eq!(near(id(1), 500, 3, &ids), None);
        assert_eq!(near(id(100), 500, 401, &ids), Some(99));
        assert_eq!(near(id(1), 0, usize::MAX, &[]), None);
    }
}
