//! Which connection belongs to which address and to which session.
//!
//! *Invariant:* an address has at most one connection that is settled there, and at most one newcomer that
//! has not finished its handshake. A session has at most one connection.

use std::collections::BTreeMap;

use crate::session::connection_id::ConnectionId;

/// The connections of one address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Residents {
    /// The connection of the client that was the last to show that it is at this address.
    pub(super) settled: Option<ConnectionId>,
    /// The connection of another session that will take the address over, if its handshake succeeds.
    pub(super) newcomer: Option<ConnectionId>,
}

/// What the endpoint knows about a connection.
#[derive(Clone, Copy, Debug)]
struct Entry<A> {
    session: u64,
    /// Where the packets of the connection are sent. `None` if another client is at this address now.
    address: Option<A>,
    /// How many times the client has moved to another address.
    moves: u64,
}

/// All connections of an endpoint that the server has not removed.
#[derive(Debug)]
pub(super) struct Directory<A> {
    entries: BTreeMap<ConnectionId, Entry<A>>,
    sessions: BTreeMap<u64, ConnectionId>,
    addresses: BTreeMap<A, Residents>,
}

impl<A: Copy + Ord> Directory<A> {
    pub(super) fn new() -> Self {
        Self { entries: BTreeMap::new(), sessions: BTreeMap::new(), addresses: BTreeMap::new() }
    }

    pub(super) fn contains(&self, id: ConnectionId) -> bool {
        self.entries.contains_key(&id)
    }

    pub(super) fn connection_of(&self, session: u64) -> Option<ConnectionId> {
        self.sessions.get(&session).copied()
    }

    pub(super) fn residents(&self, address: A) -> Residents {
        self.addresses.get(&address).copied().unwrap_or_default()
    }

    /// Returns where the packets of a connection are sent.
    pub(super) fn address_of(&self, id: ConnectionId) -> Option<A> {
        self.entries.get(&id)?.address
    }

    /// Returns how many times the client of a session has moved to another address.
    pub(super) fn moves(&self, session: u64) -> u64 {
        self.connection_of(session).and_then(|id| self.entries.get(&id)).map_or(0, |entry| entry.moves)
    }

    /// Adds a connection at an address, as a newcomer or settled. A connection that was there in this role
    /// still sends to the address, but receives no packets from there.
    pub(super) fn insert(&mut self, id: ConnectionId, session: u64, address: A, is_newcomer: bool) {
        self.entries.insert(id, Entry { session, address: Some(address), moves: 0 });
        self.sessions.insert(session, id);
        let residents = self.addresses.entry(address).or_default();
        if is_newcomer {
            residents.newcomer = Some(id);
        } else {
            residents.settled = Some(id);
        }
    }

    /// Makes the newcomer of an address the settled connection. Returns the connection that was settled. That
    /// one still sends to the address, but receives no packets from there.
    pub(super) fn settle_newcomer(&mut self, address: A) -> Option<ConnectionId> {
        let residents = self.addresses.get_mut(&address)?;
        let newcomer = residents.newcomer.take()?;
        residents.settled.replace(newcomer)
    }

    /// Moves a connection to an address. If another connection had this address, its client is at another
    /// address now. So the other connection has no address any more.
    pub(super) fn relocate(&mut self, id: ConnectionId, address: A) {
        if let Some(settled) = self.residents(address).settled {
            self.leave(settled);
        }
        self.leave(id);
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.address = Some(address);
            entry.moves = entry.moves.saturating_add(1);
            self.addresses.entry(address).or_default().settled = Some(id);
        }
    }

    /// Removes a connection.
    pub(super) fn remove(&mut self, id: ConnectionId) {
        self.leave(id);
        if let Some(entry) = self.entries.remove(&id)
            && self.sessions.get(&entry.session) == Some(&id)
        {
            self.sessions.remove(&entry.session);
        }
    }

    /// Takes a connection away from its address.
    fn leave(&mut self, id: ConnectionId) {
        let Some(address) = self.entries.get_mut(&id).and_then(|entry| entry.address.take()) else { return };
        let Some(residents) = self.addresses.get_mut(&address) else { return };
        for place in [&mut residents.settled, &mut residents.newcomer] {
            if *place == Some(id) {
                *place = None;
            }
        }
        if *residents == Residents::default() {
            self.addresses.remove(&address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: ConnectionId = ConnectionId(1);
    const TWO: ConnectionId = ConnectionId(2);

    fn places(directory: &Directory<u8>, address: u8) -> (Option<ConnectionId>, Option<ConnectionId>) {
        let Residents { settled, newcomer } = directory.residents(address);
        (settled, newcomer)
    }

    #[test]
    fn a_newcomer_that_settles_takes_the_place_of_the_other_which_still_sends() {
        let mut directory = Directory::new();
        directory.insert(ONE, 10, 7, false);
        directory.insert(TWO, 20, 7, true);
        assert_eq!(places(&directory, 7), (Some(ONE), Some(TWO)));
        assert_eq!(directory.settle_newcomer(7), Some(ONE));
        assert_eq!(places(&directory, 7), (Some(TWO), None));
        assert_eq!((directory.address_of(ONE), directory.address_of(TWO)), (Some(7), Some(7)));
        directory.remove(ONE);
        assert_eq!(places(&directory, 7), (Some(TWO), None), "the end of the other changes nothing");
        assert_eq!((directory.connection_of(10), directory.connection_of(20)), (None, Some(TWO)));
    }

    #[test]
    fn who_moves_to_an_address_takes_it_from_the_other_which_has_none_then() {
        let mut directory = Directory::new();
        directory.insert(ONE, 10, 7, false);
        directory.insert(TWO, 20, 8, false);
        directory.relocate(ONE, 8);
        assert_eq!((directory.address_of(ONE), directory.address_of(TWO)), (Some(8), None));
        assert_eq!((places(&directory, 7), places(&directory, 8)), ((None, None), (Some(ONE), None)));
        directory.relocate(TWO, 7);
        assert_eq!((directory.address_of(ONE), directory.address_of(TWO)), (Some(8), Some(7)));
    }

    #[test]
    fn whatever_happens_nothing_is_left_of_removed_connections() {
        let mut random = 1_u64;
        let mut below = |bound: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % bound
        };
        let mut directory = Directory::new();
        let mut ids = Vec::new();
        for number in 0..20_000 {
            let address = below(6) as u8;
            match below(4) {
                0 => {
                    let id = ConnectionId(number);
                    directory.insert(id, below(30), address, below(2) == 0);
                    ids.push(id);
                }
                1 => _ = directory.settle_newcomer(address),
                2 if !ids.is_empty() => directory.relocate(ids[below(ids.len() as u64) as usize], address),
                _ if !ids.is_empty() => {
                    directory.remove(ids.swap_remove(below(ids.len() as u64) as usize));
                }
                _ => {}
            }
            for (address, residents) in &directory.addresses {
                for id in residents.settled.into_iter().chain(residents.newcomer) {
                    assert_eq!(directory.address_of(id), Some(*address));
                }
            }
            assert!(directory.sessions.values().all(|id| directory.contains(*id)));
        }
        ids.into_iter().for_each(|id| directory.remove(id));
        assert!(directory.entries.is_empty() && directory.sessions.is_empty());
        assert!(directory.addresses.is_empty());
    }
}
