//! Which connection belongs to which address and to which session.
//!
//! *Invariant:* an address has at most one connection that is settled there, and at most one newcomer that
//! has not finished its handshake. A session has at most one connection.

use std::collections::BTreeMap;

use crate::session::connection_id::ConnectionId;

/// The connections of one address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Residents {
    /// The connection whose client was the last to show that it is at this address.
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

    /// Where the packets of a connection are sent.
    pub(super) fn address_of(&self, id: ConnectionId) -> Option<A> {
        self.entries.get(&id)?.address
    }

    /// Adds a connection at an address, as a newcomer or settled. A connection that was there in this role
    /// still sends to the address, but receives no packets from there.
    pub(super) fn insert(&mut self, id: ConnectionId, session: u64, address: A, is_newcomer: bool) {
        self.entries.insert(id, Entry { session, address: Some(address) });
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

    /// Moves a connection to an address. The client of a connection that was settled there is somewhere else
    /// now, so that connection has no address any more.
    pub(super) fn relocate(&mut self, id: ConnectionId, address: A) {
        if let Some(settled) = self.residents(address).settled {
            self.leave(settled);
        }
        self.leave(id);
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.address = Some(address);
            self.addresses.entry(address).or_default().settled = Some(id);
        }
    }

    /// Removes the connections that `is_known` does not know.
    pub(super) fn retain(&mut self, is_known: impl Fn(ConnectionId) -> bool) {
        let gone: Vec<ConnectionId> = self.entries.keys().copied().filter(|&id| !is_known(id)).collect();
        for id in gone {
            self.leave(id);
            if let Some(entry) = self.entries.remove(&id)
                && self.sessions.get(&entry.session) == Some(&id)
            {
                self.sessions.remove(&entry.session);
            }
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
