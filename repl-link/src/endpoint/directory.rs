//! Finds the connections of an address and the connection of a session. A connection is *settled* at an
//! address when its client has shown that it is there. A *newcomer* is a connection whose client has not
//! shown this yet.
//!
//! *Invariant:* an address has at most one settled connection. A session has at most one connection.

use std::collections::BTreeMap;

use super::origin::{Address, Origin};
use crate::session::connection_id::ConnectionId;

/// The connections of one address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Residents {
    /// The connection of the client that has most recently shown that it is at this address.
    pub(super) settled: Option<ConnectionId>,
    /// The newcomers: the connections of clients that have not shown this yet. A newcomer takes the address
    /// over when its handshake succeeds. Before that, it does not end another connection, because its hello
    /// (the first packet of a handshake) may be an old packet that arrived late.
    pub(super) newcomers: Vec<ConnectionId>,
}

impl Residents {
    fn add(&mut self, id: ConnectionId, is_newcomer: bool) {
        if is_newcomer {
            self.newcomers.push(id);
        } else {
            self.settled = Some(id);
        }
    }

    /// Returns the settled connection first, and then the newcomers.
    pub(super) fn all(&self) -> impl Iterator<Item = ConnectionId> {
        self.settled.into_iter().chain(self.newcomers.iter().copied())
    }
}

/// The data that an endpoint stores about a connection.
#[derive(Clone, Copy, Debug)]
struct KnownClient<A> {
    session: u64,
    /// The origin of the first hello.
    origin: Origin,
    /// The address to which packets of the connection are sent. `None` if another client is at this address
    /// now.
    address: Option<A>,
    /// How many times the client has moved to another address.
    moves: u64,
}

/// All connections of an endpoint that the server has not removed.
#[derive(Debug)]
pub(super) struct Directory<A> {
    entries: BTreeMap<ConnectionId, KnownClient<A>>,
    sessions: BTreeMap<u64, ConnectionId>,
    addresses: BTreeMap<A, Residents>,
}

impl<A: Address> Directory<A> {
    pub(super) fn new() -> Self {
        Self { entries: BTreeMap::new(), sessions: BTreeMap::new(), addresses: BTreeMap::new() }
    }

    pub(super) fn contains(&self, id: ConnectionId) -> bool {
        self.entries.contains_key(&id)
    }

    pub(super) fn connection_of(&self, session: u64) -> Option<ConnectionId> {
        self.sessions.get(&session).copied()
    }

    pub(super) fn residents(&self, address: A) -> Option<&Residents> {
        self.addresses.get(&address)
    }

    /// Returns the address to which packets of a connection are sent.
    pub(super) fn address_of(&self, id: ConnectionId) -> Option<A> {
        self.entries.get(&id)?.address
    }

    /// Returns how many times the client of a session has moved to another address.
    pub(super) fn moves(&self, session: u64) -> u64 {
        self.connection_of(session).and_then(|id| self.entries.get(&id)).map_or(0, |entry| entry.moves)
    }

    /// Adds a connection at an address. A newcomer takes the address over when its handshake succeeds. Any
    /// other connection takes it over at once. The packets of the connection that had the address before are
    /// still sent there, but it receives no packets from there.
    pub(super) fn insert(&mut self, id: ConnectionId, session: u64, address: A, is_newcomer: bool) {
        let origin = address.origin();
        self.entries.insert(id, KnownClient { session, origin, address: Some(address), moves: 0 });
        self.sessions.insert(session, id);
        self.addresses.entry(address).or_default().add(id, is_newcomer);
    }

    /// Keeps only the newcomers of an address for which `keeps` returns true, because they still need the
    /// packets that arrive from there. The packets of the other newcomers are still sent to the address.
    pub(super) fn retain_newcomers(&mut self, address: A, keeps: impl Fn(ConnectionId) -> bool) {
        if let Some(residents) = self.addresses.get_mut(&address) {
            residents.newcomers.retain(|&newcomer| keeps(newcomer));
        }
    }

    /// Makes a newcomer of an address the settled connection. Returns the connections that it replaces. These
    /// are the connection that was settled, and the newcomers that came earlier, so that their late packets
    /// cannot end a younger session. The packets of the replaced connections are still sent to the address,
    /// but these connections receive no packets from there.
    pub(super) fn settle(&mut self, address: A, newcomer: ConnectionId) -> Vec<ConnectionId> {
        let Some(residents) = self.addresses.get_mut(&address) else { return Vec::new() };
        let Residents { settled, newcomers } = residents;
        let at = newcomers.iter().position(|&id| id == newcomer).unwrap_or_default();
        let earlier: Vec<ConnectionId> = newcomers.drain(..at).collect();
        newcomers.retain(|&id| id != newcomer);
        settled.replace(newcomer).into_iter().chain(earlier).collect()
    }

    /// Moves a connection to an address, as a newcomer or settled. If another connection was settled there
    /// and this connection settles, the other client must have moved to an unknown address. Then the other
    /// connection has no address.
    pub(super) fn relocate(&mut self, id: ConnectionId, address: A, is_newcomer: bool) {
        if let Some(settled) = self.residents(address).and_then(|residents| residents.settled)
            && !is_newcomer
        {
            self.leave(settled);
        }
        self.leave(id);
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.address = Some(address);
            entry.moves = entry.moves.saturating_add(1);
            self.addresses.entry(address).or_default().add(id, is_newcomer);
        }
    }

    /// Removes a connection. Returns the origin of its first hello.
    pub(super) fn remove(&mut self, id: ConnectionId) -> Option<Origin> {
        self.leave(id);
        let KnownClient { session, origin, .. } = self.entries.remove(&id)?;
        if self.sessions.get(&session) == Some(&id) {
            self.sessions.remove(&session);
        }
        Some(origin)
    }

    fn leave(&mut self, id: ConnectionId) {
        let Some(address) = self.entries.get_mut(&id).and_then(|entry| entry.address.take()) else { return };
        let Some(residents) = self.addresses.get_mut(&address) else { return };
        residents.settled.take_if(|settled| *settled == id);
        residents.newcomers.retain(|&newcomer| newcomer != id);
        if residents.all().next().is_none() {
            self.addresses.remove(&address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: ConnectionId = ConnectionId(1);
    const TWO: ConnectionId = ConnectionId(2);

    fn places(directory: &Directory<u8>, address: u8) -> (Option<ConnectionId>, Vec<ConnectionId>) {
        let Residents { settled, newcomers } = directory.residents(address).cloned().unwrap_or_default();
        (settled, newcomers)
    }

    #[test]
    fn a_newcomer_that_settles_takes_the_place_of_the_other_which_still_sends() {
        let mut directory = Directory::new();
        directory.insert(ONE, 10, 7, false);
        directory.insert(TWO, 20, 7, true);
        assert_eq!(places(&directory, 7), (Some(ONE), vec![TWO]));
        assert_eq!(directory.settle(7, TWO), [ONE]);
        assert_eq!(places(&directory, 7), (Some(TWO), vec![]));
        assert_eq!((directory.address_of(ONE), directory.address_of(TWO)), (Some(7), Some(7)));
        directory.remove(ONE);
        assert_eq!(places(&directory, 7), (Some(TWO), vec![]), "the end of the other changes nothing");
        assert_eq!((directory.connection_of(10), directory.connection_of(20)), (None, Some(TWO)));
    }

    #[test]
    fn a_newcomer_that_settles_replaces_earlier_newcomers_but_not_later_ones() {
        let mut directory = Directory::new();
        let [earlier, later] = [ConnectionId(8), ConnectionId(9)];
        for (id, session) in [(ONE, 10), (earlier, 11), (TWO, 12), (later, 13)] {
            directory.insert(id, session, 7, id != ONE);
        }
        assert_eq!(directory.settle(7, TWO), [ONE, earlier]);
        assert_eq!(places(&directory, 7), (Some(TWO), vec![later]));
        assert_eq!(directory.settle(7, later), [TWO]);
    }

    #[test]
    fn who_moves_to_an_address_takes_it_from_the_other_which_has_none_then() {
        let mut directory = Directory::new();
        directory.insert(ONE, 10, 7, false);
        directory.insert(TWO, 20, 8, false);
        directory.relocate(ONE, 8, false);
        assert_eq!((directory.address_of(ONE), directory.address_of(TWO)), (Some(8), None));
        assert_eq!((places(&directory, 7), places(&directory, 8)), ((None, vec![]), (Some(ONE), vec![])));
        directory.relocate(TWO, 7, false);
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
                1 => {
                    let newcomer =
                        directory.residents(address).and_then(|there| there.newcomers.first().copied());
                    newcomer.into_iter().for_each(|newcomer| _ = directory.settle(address, newcomer));
                }
                2 if !ids.is_empty() => {
                    let id = ids[below(ids.len() as u64) as usize];
                    directory.relocate(id, address, below(3) == 0);
                }
                _ if !ids.is_empty() => {
                    directory.remove(ids.swap_remove(below(ids.len() as u64) as usize));
                }
                _ => {}
            }
            for (address, residents) in &directory.addresses {
                for id in residents.all() {
                    assert_eq!(directory.address_of(id), Some(*address));
                }
            }
            assert!(directory.sessions.values().all(|id| directory.contains(*id)));
        }
        ids.into_iter().for_each(|id| _ = directory.remove(id));
        assert!(directory.entries.is_empty() && directory.sessions.is_empty());
        assert!(directory.addresses.is_empty());
    }
}
