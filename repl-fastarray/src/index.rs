//! The index: where each id stands, or stood a few shifts ago.
//!
//! Invariant: it has an entry for every id of its roster and for no other, and each id stands at most `drift` places from its entry.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::OnceLock;

use repl_core::ItemId;

/// How far ids may stand from where they are known to have stood: so many are looked through faster than an index is made anew.
pub(crate) const MAX_DRIFT: usize = 256;

/// Where each id of a roster stands.
#[derive(Default)]
pub(crate) struct Index {
    places: HashMap<ItemId, u32, BuildIdHasher>,
    drift: usize,
}

impl Index {
    /// The index of `ids`. O(n).
    pub(crate) fn of(ids: &[ItemId]) -> Self {
        let mut places = HashMap::with_capacity_and_hasher(ids.len(), BuildIdHasher::default());
        places.extend(ids.iter().enumerate().map(|(at, &id)| (id, at as u32)));
        Self { places, drift: 0 }
    }

    /// Where `id` stands among `ids`, whose index this is. O(drift).
    pub(crate) fn position(&self, id: ItemId, ids: &[ItemId]) -> Option<usize> {
        let place = *self.places.get(&id)?;
        near(id, place as usize, self.drift, ids)
    }

    /// `id` stands at `at` now, new or moved.
    pub(crate) fn set(&mut self, id: ItemId, at: usize) {
        self.places.insert(id, at as u32);
    }

    pub(crate) fn remove(&mut self, id: ItemId) {
        self.places.remove(&id);
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

/// Hashes ids by one multiplication with a secret of this process: ids on a client are chosen by its server, which must not be able to
/// choose such that collide.
#[derive(Clone, Copy)]
pub(crate) struct BuildIdHasher {
    secret: u64,
}

impl Default for BuildIdHasher {
    fn default() -> Self {
        static SECRET: OnceLock<u64> = OnceLock::new();
        Self { secret: *SECRET.get_or_init(|| RandomState::new().hash_one(0) | 1) }
    }
}

impl BuildHasher for BuildIdHasher {
    type Hasher = IdHasher;

    fn build_hasher(&self) -> IdHasher {
        IdHasher { secret: self.secret, hash: 0 }
    }
}

pub(crate) struct IdHasher {
    secret: u64,
    hash: u64,
}

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.hash
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u32(u32::from(byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        let mixed = (self.hash ^ u64::from(number)).wrapping_add(self.secret.rotate_left(32));
        let product = u128::from(mixed) * u128::from(self.secret);
        self.hash = product as u64 ^ (product >> 64) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u32) -> ItemId {
        ItemId::new(number).expect("not zero")
    }

    #[test]
    fn consecutive_and_far_ids_hash_apart() {
        let build = BuildIdHasher::default();
        let mut low = std::collections::HashSet::new();
        for number in (1..=2_000).chain((1..=2_000).map(|high| high << 16)) {
            low.insert(build.hash_one(id(number)) & 0xfff);
        }
        assert!(low.len() > 1_500, "4,000 ids in {} of 4,096 places", low.len());
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
