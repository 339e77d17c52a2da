//! The order in which the packets of all connections are polled.
//!
//! Clients may share a link, and the queue of this link may be full. Then the queue accepts the first packets
//! of a tick, and drops the last packets. If the connections sent all their packets one after the other, in
//! the same order in every tick, the queue would drop the packets of the same connection in every tick (Floyd
//! and Jacobson, *Traffic Phase Effects in Packet-Switched Gateways*, 1991). So each turn is one packet, and
//! each tick begins with another connection.
//!
//! *Invariant:* every connection that has packets when a tick begins has one turn before any connection has a
//! second turn. This holds even if the caller never polls all packets of a tick.

use std::collections::VecDeque;

use super::peer::{HasLink, Peer};
use super::peers::Peers;
use crate::session::connection_id::ConnectionId;

/// The connections with packets, in the order of their turns.
#[derive(Debug)]
pub(super) struct PollOrder {
    waiting: VecDeque<ConnectionId>,
    /// The connection that had the first turn when the list `waiting` was last made. The next list begins
    /// with the connections after it.
    first: ConnectionId,
    /// The tick in which the list was last made or extended.
    tick: u64,
}

impl PollOrder {
    pub(super) const fn new() -> Self {
        Self { waiting: VecDeque::new(), first: ConnectionId(0), tick: 0 }
    }

    /// Returns the connection that has the next turn. Only connections for which `has_packets` returns true
    /// have turns. `tick` is the number of the current tick.
    pub(super) fn next<C: HasLink>(
        &mut self,
        tick: u64,
        peers: &Peers<C>,
        has_packets: impl Fn(ConnectionId, &Peer<C>) -> bool,
    ) -> Option<ConnectionId> {
        if std::mem::replace(&mut self.tick, tick) != tick && !self.waiting.is_empty() {
            // Packets of the last tick were not polled. Their connections have the first turns. Then follow
            // the connections that had no packets in the last tick.
            self.extend(peers, &has_packets);
        }
        while let Some(id) = self.waiting.pop_front() {
            if peers.get(id).is_some_and(|peer| has_packets(id, peer)) {
                self.waiting.push_back(id);
                return Some(id);
            }
        }
        self.extend(peers, &has_packets);
        self.first = *self.waiting.front()?;
        self.waiting.rotate_left(1);
        Some(self.first)
    }

    /// Adds the connections with packets that are not in the list.
    fn extend<C: HasLink>(&mut self, peers: &Peers<C>, has_packets: impl Fn(ConnectionId, &Peer<C>) -> bool) {
        let mut listed: Vec<ConnectionId> = self.waiting.iter().copied().collect();
        listed.sort_unstable();
        let is_new = |id: &ConnectionId| listed.binary_search(id).is_err();
        let all = peers.iter_after(self.first).filter(|(id, peer)| is_new(id) && has_packets(*id, peer));
        self.waiting.extend(all.map(|(id, _)| id));
    }
}
