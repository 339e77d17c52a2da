//! The places for connections. Each connection occupies one place, and the connections of each origin (a host
//! or a network) may occupy only a part of the places.
//!
//! *Invariant:* no origin occupies more places than its share, and all origins together occupy no more places
//! than there are.

use std::collections::{BTreeMap, BTreeSet};

use super::origin::Origin;
use crate::session::connection_id::ConnectionId;

/// The connections that occupy places, grouped by origin.
#[derive(Debug)]
pub(super) struct Places {
    /// How many places there are.
    most: usize,
    /// How many places an origin may take.
    share: usize,
    by_origin: BTreeMap<Origin, BTreeSet<ConnectionId>>,
    taken: usize,
}

impl Places {
    pub(super) fn new(most: usize, share: usize) -> Self {
        Self { most, share, by_origin: BTreeMap::new(), taken: 0 }
    }

    /// Returns the connections that could make room for one more connection of this origin. Returns `None` if
    /// there is a free place.
    ///
    /// `needs` says whether a connection still needs its place. It is called only if no place seems to be
    /// free. Then the cost is O(share), or O(places) if other origins take all places.
    pub(super) fn contenders(
        &mut self,
        origin: Origin,
        needs: impl Fn(ConnectionId) -> bool,
    ) -> Option<Vec<ConnectionId>> {
        if self.taken_by(origin) >= self.share {
            self.free(origin, &needs);
        }
        if self.taken_by(origin) >= self.share {
            return Some(self.by_origin.get(&origin).into_iter().flatten().copied().collect());
        }
        if self.taken >= self.most {
            let origins: Vec<Origin> = self.by_origin.keys().copied().collect();
            origins.into_iter().for_each(|origin| self.free(origin, &needs));
        }
        (self.taken >= self.most).then(|| self.ids().collect())
    }

    pub(super) fn insert(&mut self, id: ConnectionId, origin: Origin) {
        if self.by_origin.entry(origin).or_default().insert(id) {
            self.taken = self.taken.saturating_add(1);
        }
    }

    /// Frees the place of a connection. Does nothing if the connection has no place.
    pub(super) fn remove(&mut self, id: ConnectionId, origin: Origin) {
        let Some(ids) = self.by_origin.get_mut(&origin) else { return };
        self.taken = self.taken.saturating_sub(usize::from(ids.remove(&id)));
        if ids.is_empty() {
            self.by_origin.remove(&origin);
        }
    }

    pub(super) fn taken(&self) -> usize {
        self.taken
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = ConnectionId> {
        self.by_origin.values().flatten().copied()
    }

    fn taken_by(&self, origin: Origin) -> usize {
        self.by_origin.get(&origin).map_or(0, BTreeSet::len)
    }

    /// Frees the places of an origin that are not needed any more.
    fn free(&mut self, origin: Origin, needs: impl Fn(ConnectionId) -> bool) {
        let Some(ids) = self.by_origin.get_mut(&origin) else { return };
        let before = ids.len();
        ids.retain(|&id| needs(id));
        self.taken = self.taken.saturating_sub(before.saturating_sub(ids.len()));
        if ids.is_empty() {
            self.by_origin.remove(&origin);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(host: u8) -> Origin {
        Origin::of(&host)
    }

    fn ids(numbers: impl IntoIterator<Item = u32>) -> Option<Vec<ConnectionId>> {
        Some(numbers.into_iter().map(ConnectionId).collect())
    }

    #[test]
    fn an_origin_contends_with_itself_at_its_share_and_with_all_when_no_place_is_left() {
        let mut places = Places::new(5, 2);
        for number in 0..4 {
            let host = origin((number / 2) as u8);
            assert_eq!(places.contenders(host, |_| true), None);
            places.insert(ConnectionId(number), host);
        }
        assert_eq!(places.contenders(origin(0), |_| true), ids([0, 1]));
        assert_eq!(places.contenders(origin(2), |_| true), None);
        places.insert(ConnectionId(4), origin(2));
        let all = places.contenders(origin(3), |_| true).map(|mut all| {
            all.sort();
            all
        });
        assert_eq!(all, ids(0..5));
    }

    #[test]
    fn places_that_are_not_needed_any_more_are_free() {
        let mut places = Places::new(4, 2);
        (0..4).for_each(|number| places.insert(ConnectionId(number), origin((number / 2) as u8)));
        assert_eq!(places.contenders(origin(0), |id| id != ConnectionId(0)), None);
        places.insert(ConnectionId(9), origin(0));
        assert_eq!(places.contenders(origin(7), |id| id.0 > 2), None);
        places.remove(ConnectionId(3), origin(1));
        places.remove(ConnectionId(3), origin(1));
        places.remove(ConnectionId(9), origin(0));
        assert_eq!((places.taken, places.by_origin.len()), (0, 0));
    }
}
