//! The clients of a server: the QUIC connection of each session.
//!
//! *Invariant:* each connection belongs to one session, and each session has one connection.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::time::Duration;

use quinn_proto::ConnectionHandle;
use repl_link::ConnectionId;

/// A client with its connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Client {
    pub(super) handle: ConnectionHandle,
    pub(super) address: SocketAddr,
    /// The greatest size in bytes of packets to the client, as QUIC reported it last for the path.
    pub(super) packet_bytes: usize,
}

#[derive(Default)]
pub(super) struct Clients {
    by_id: BTreeMap<ConnectionId, Client>,
    ids: BTreeMap<ConnectionHandle, ConnectionId>,
    /// The clients with ended sessions, in the order of their ends. Each has the time until which its
    /// connection remains open, so that the client can learn the reason.
    ended: VecDeque<(Duration, ConnectionId)>,
}

impl Clients {
    /// Returns the number of clients, including clients with ended sessions.
    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Returns the number of clients whose sessions have not ended.
    pub(super) fn active(&self) -> usize {
        self.len().saturating_sub(self.ended.len())
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
    }

    pub(super) fn remove(&mut self, id: ConnectionId) -> Option<ConnectionHandle> {
        let client = self.by_id.remove(&id)?;
        self.ids.remove(&client.handle);
        self.ended.retain(|(_, ended)| *ended != id);
        Some(client.handle)
    }

    /// Records that the session of a client has ended. Its connection remains open until `until`.
    pub(super) fn ended(&mut self, id: ConnectionId, until: Duration) {
        self.ended.push_back((until, id));
    }

    /// Returns a client that can be removed: its session has ended, and its time to learn this is over. If
    /// more than `most` sessions have ended, returns the client whose session ended first, at once.
    pub(super) fn next_gone(&self, now: Duration, most: usize) -> Option<ConnectionId> {
        let (until, id) = self.ended.front()?;
        (*until <= now || self.ended.len() > most).then_some(*id)
    }
}
