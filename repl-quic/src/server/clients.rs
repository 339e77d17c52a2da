//! The clients of a server: which connection of QUIC carries which session.
//!
//! *Invariant:* each connection carries one session, and each session has one connection.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::time::Duration;

use quinn_proto::ConnectionHandle;
use repl_link::{Address, ConnectionId, Origin};

use super::config::QuicConfig;

/// A client.
#[derive(Clone, Copy, Debug)]
pub(super) struct Client {
    pub(super) handle: ConnectionHandle,
    pub(super) address: SocketAddr,
    /// The greatest size of the packets to the client, as its path was known last.
    pub(super) packet_bytes: usize,
}

/// The clients of a server.
#[derive(Default)]
pub(super) struct Clients {
    by_id: BTreeMap<ConnectionId, Client>,
    ids: BTreeMap<ConnectionHandle, ConnectionId>,
    by_origin: BTreeMap<Origin, usize>,
    /// The clients whose sessions have ended, and until when they can still hear why.
    ended: VecDeque<(Duration, ConnectionId)>,
}

impl Clients {
    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Returns whether there may be one more client of an origin.
    pub(super) fn has_room(&self, config: &QuicConfig, origin: Origin) -> bool {
        let of_origin = self.by_origin.get(&origin).copied().unwrap_or(0);
        self.len() < config.max_clients && of_origin < config.max_per_origin
    }

    pub(super) fn ids(&self) -> Vec<ConnectionId> {
        self.by_id.keys().copied().collect()
    }

    pub(super) fn contains(&self, id: ConnectionId) -> bool {
        self.by_id.contains_key(&id)
    }

    pub(super) fn get(&self, id: ConnectionId) -> Option<&Client> {
        self.by_id.get(&id)
    }

    pub(super) fn get_mut(&mut self, id: ConnectionId) -> Option<&mut Client> {
        self.by_id.get_mut(&id)
    }

    pub(super) fn id_of(&self, handle: ConnectionHandle) -> Option<ConnectionId> {
        self.ids.get(&handle).copied()
    }

    pub(super) fn add(&mut self, id: ConnectionId, client: Client) {
        self.by_id.insert(id, client);
        self.ids.insert(client.handle, id);
        let count = self.by_origin.entry(client.address.origin()).or_default();
        *count = count.saturating_add(1);
    }

    /// Removes a client, and returns its connection.
    pub(super) fn remove(&mut self, id: ConnectionId) -> Option<ConnectionHandle> {
        let client = self.by_id.remove(&id)?;
        self.ids.remove(&client.handle);
        let origin = client.address.origin();
        if let Some(count) = self.by_origin.get_mut(&origin) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.by_origin.remove(&origin);
            }
        }
        Some(client.handle)
    }

    /// Records that a client has another address.
    pub(super) fn moved(&mut self, id: ConnectionId, address: SocketAddr) {
        if let Some(client) = self.by_id.get(&id).copied() {
            self.remove(id);
            self.add(id, Client { address, ..client });
        }
    }

    /// Records that the session of a client has ended, which it can hear until then.
    pub(super) fn ended(&mut self, id: ConnectionId, until: Duration) {
        self.ended.push_back((until, id));
    }

    /// Returns a client whose session has ended, and that has had the time to hear it.
    pub(super) fn pop_ended(&mut self, now: Duration) -> Option<ConnectionId> {
        let (until, _) = self.ended.front()?;
        if *until <= now { self.ended.pop_front().map(|(_, id)| id) } else { None }
    }
}
