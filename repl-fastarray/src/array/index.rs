//! The index: where each id stands, or stood a few shifts ago.
//!
//! Invariant: it has an entry for every id of its roster and for no other, and each id stands at most `drift` places from its entry.

use repl_core::ItemId;

use crate::ids::IdTable;

/// How far ids may stand from where they are known to have stood: so many are looked through faster than an index is made anew.
pub(crate) const MAX_DRIFT: usize = 256;

/// Where each id of a roster stands.
pub(crate) struct Index {
    places: IdTable<u32>,
    drift: usize,
}

impl Index {
    /// The index of `ids`. O(n).
    pub(crate) fn of(ids: &[ItemId]) -> Self {
        let mut places = IdTable::with_capacity(ids.len());
        ids.iter().zip(0..).for_each(|(&id, at)| places.set(id, at));
        Self { places, drift: 0 }
    }

    /// Where `id` stands among `ids`, whose index this is. O(drift).
    pub(crate) fn position(&self, id: ItemId, ids: &[ItemId]) -> Option<usize> {
        let place = self.places.get(id)? as usize;
        // Where nothing has moved the ids need not be looked at.
        if self.drift == 0 { Some(place) } else { near(id, place, self.drift, ids) }
    }

    /// Somebody will ask for `id` soon.
    pub(crate) fn preload(&self, id: ItemId) {
        self.places.preload(id);
    }

    /// `id` stands at `at` now, new or moved.
    pub(crate) fn set(&mut self, id: ItemId, at: usize) {
        self.places.set(id, at as u32);
    }

    pub(crate) fn remove(&mut self, id: ItemId) {
        self.places.remove(id);
    }

    /// Everything behind some place has moved by `places`. Says whether the index is still worth having.
    #[must_use]
    pub(crate) fn shifted(&mut self, places: usize) -> bool {
        self.drift = self.drift.saturating_add(places);
        self.drift <= MAX_DRIFT
    }
}

/// Where `id` stands among `ids`, if no farther than `drift` from `place`. O(drift).
pub(crate) fn near(id: ItemId, place: usize, drift: usize, ids: &[ItemId]) -> Option<usize> {
    if ids.get(place) == Some(&id) {
        return Some(place);
    }
    let first = place.saturating_sub(drift).min(ids.len());
    let end = place.saturating_add(drift).saturating_add(1).min(ids.len());
    ids[first..end].iter().position(|&other| other == id).map(|at| first + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u32) -> ItemId {
        ItemId::new(number).expect("not zero")
    }

    #[test]
    fn what_drifted_is_found_near_its_place_and_not_beyond() {
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
