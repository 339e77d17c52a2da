//! The clients of a server, sorted by their numbers. A client *rests* if nothing must be sent to it for some
//! time (see `rest`).
//!
//! *Invariant:* the peers are in ascending order of their numbers. Numbers are given in ascending order, so
//! a new peer comes last.

use std::time::Duration;

use repl_core::__private::preload_all;

use super::peer::{HasLink, Peer};
use super::rest::Rest;
use crate::queue::packet_pages::PacketPages;
use crate::session::connection_id::ConnectionId;

/// A client and its number.
pub struct PeerEntry<C> {
    /// The number of the connection.
    pub id: ConnectionId,
    /// Until when ticks need not visit the client, because nothing must be sent to it.
    pub rest: Rest,
    /// The client. In a box, so that an entry is small: a vector may reserve twice the memory that its
    /// entries need.
    pub peer: Box<Peer<C>>,
}

/// The clients of a server.
pub struct Peers<C> {
    entries: Vec<PeerEntry<C>>,
}

impl<C> Default for Peers<C> {
    fn default() -> Self {
        Self { entries: Vec::new() }
    }
}

impl<C: HasLink> Peers<C> {
    /// Adds a peer. Its number must be greater than the numbers of all other peers.
    pub fn push(&mut self, id: ConnectionId, peer: Peer<C>) {
        debug_assert!(self.entries.last().is_none_or(|last| last.id < id), "numbers are ascending");
        self.entries.push(PeerEntry { id, rest: Rest::default(), peer: Box::new(peer) });
    }

    /// Removes and returns a peer. Costs O(peers).
    pub fn remove(&mut self, id: ConnectionId) -> Option<Box<Peer<C>>> {
        let index = self.find(id)?;
        Some(self.entries.remove(index).peer)
    }

    /// Returns the number of peers.
    pub fn count(&self) -> usize {
        self.entries.len()
    }

    /// Returns a peer. Costs O(1) while no earlier peer was removed, otherwise O(log peers).
    #[inline]
    pub fn get(&self, id: ConnectionId) -> Option<&Peer<C>> {
        self.entries.get(self.find(id)?).map(|entry| &*entry.peer)
    }

    /// Returns a peer for changes, and ends its rest, so that the next tick visits it. Costs the same as
    /// [`get`](Self::get).
    #[inline]
    pub fn get_mut(&mut self, id: ConnectionId) -> Option<&mut Peer<C>> {
        let index = self.find(id)?;
        self.entries.get_mut(index).map(PeerEntry::wake)
    }

    /// Returns a peer for changes, and does not end its rest. The caller may make only changes that need no
    /// reaction in a tick, for example take packets from the queue.
    #[inline]
    pub fn resting_mut(&mut self, id: ConnectionId) -> Option<&mut Peer<C>> {
        let index = self.find(id)?;
        self.entries.get_mut(index).map(|entry| &mut *entry.peer)
    }

    /// Returns the entry of a peer, and does not end its rest. Costs the same as [`get`](Self::get).
    pub fn entry_mut(&mut self, id: ConnectionId) -> Option<&mut PeerEntry<C>> {
        let index = self.find(id)?;
        self.entries.get_mut(index)
    }

    /// Ends the rest of a peer.
    pub fn wake(&mut self, id: ConnectionId) {
        self.get_mut(id);
    }

    /// Returns the numbers of the peers, in ascending order.
    pub fn ids(&self) -> impl Iterator<Item = ConnectionId> {
        self.entries.iter().map(|entry| entry.id)
    }

    /// Returns the peers in ascending order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (ConnectionId, &Peer<C>)> {
        self.entries.iter().map(|entry| (entry.id, &*entry.peer))
    }

    /// Returns the peers in ascending order of their numbers, and ends their rests.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (ConnectionId, &mut Peer<C>)> {
        self.entries.iter_mut().map(|entry| (entry.id, entry.wake()))
    }

    /// Returns the peers that do not rest at the time `now`, in ascending order of their numbers.
    pub fn awake_mut(&mut self, now: Duration) -> impl Iterator<Item = &mut Peer<C>> {
        let awake = self.entries.iter_mut().filter(move |entry| !entry.rest.lasts(now));
        awake.map(|entry| &mut *entry.peer)
    }

    /// Returns the peers in ascending order of their numbers.
    pub fn as_mut_slice(&mut self) -> &mut [PeerEntry<C>] {
        &mut self.entries
    }

    /// Returns all peers: first the peers after `id`, and then the other peers. Both groups are in ascending
    /// order of their numbers.
    pub fn iter_after(&self, id: ConnectionId) -> impl Iterator<Item = (ConnectionId, &Peer<C>)> {
        let (before, after) = self.entries.split_at(self.entries.partition_point(|entry| entry.id <= id));
        after.iter().chain(before).map(|entry| (entry.id, &*entry.peer))
    }

    /// Returns the peers in ascending order of their numbers.
    pub fn values(&self) -> impl Iterator<Item = &Peer<C>> {
        self.iter().map(|(_, peer)| peer)
    }

    /// Returns the peers in ascending order of their numbers, and ends their rests.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Peer<C>> {
        self.iter_mut().map(|(_, peer)| peer)
    }

    /// Loads into the processor cache the packets of the peers after `id`, because users mostly poll all
    /// peers in this order. This has three steps, and each step reads memory that the previous step has
    /// loaded.
    #[inline]
    pub fn preload_packets_after(&self, id: ConnectionId) {
        let Some(index) = self.find(id) else { return };
        let waiting_at = |at: usize| Some(&self.entries.get(at)?.peer.connection.link().outbox.queue.waiting);
        waiting_at(index + 3).into_iter().for_each(preload_all);
        waiting_at(index + 2).into_iter().for_each(PacketPages::preload_lists);
        waiting_at(index + 1).into_iter().for_each(PacketPages::preload_next);
    }

    #[inline]
    fn find(&self, id: ConnectionId) -> Option<usize> {
        let most = id.0.checked_sub(self.entries.first()?.id.0)? as usize;
        match self.entries.get(most) {
            Some(found) if found.id == id => Some(most),
            _ => {
                let end = self.entries.len().min(most);
                self.entries[..end].binary_search_by_key(&id, |entry| entry.id).ok()
            }
        }
    }
}

impl<C> PeerEntry<C> {
    fn wake(&mut self) -> &mut Peer<C> {
        self.rest.end();
        &mut self.peer
    }
}
