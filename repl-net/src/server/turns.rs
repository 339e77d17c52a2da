//! Turns: the order in which the packets of all connections are polled.
//!
//! Clients may share a link, and the queue of this link may be full. Then the queue takes the packets that
//! come first, and drops those that come last. If all packets of one connection came before the packets of
//! the next one, in the same order in every tick, the queue would drop the packets of the same connection in
//! every tick (Floyd and Jacobson, *Traffic Phase Effects in Packet-Switched Gateways*, 1991). So each turn
//! is one packet, and each tick begins with another connection.
//!
//! *Invariant:* a connection has a second turn only after every other connection with packets has had one.

use std::collections::VecDeque;

use super::peer::Peer;
use super::peers::Peers;
use crate::session::connection_id::ConnectionId;

/// The connections with packets, in the order of their turns.
#[derive(Debug)]
pub(super) struct Turns {
    waiting: VecDeque<ConnectionId>,
    /// The connection that had the first turn when the list `waiting` was last made. The next list begins
    /// with the connections after it.
    first: ConnectionId,
}

impl Turns {
    pub(super) const fn new() -> Self {
        Self { waiting: VecDeque::new(), first: ConnectionId(0) }
    }

    /// Returns the connection that has the next turn. Only connections for which `has_packets` returns true
    /// have turns.
    pub(super) fn next(
        &mut self,
        peers: &Peers,
        has_packets: impl Fn(ConnectionId, &Peer) -> bool,
    ) -> Option<ConnectionId> {
        while let Some(id) = self.waiting.pop_front() {
            if peers.get(id).is_some_and(|peer| has_packets(id, peer)) {
                self.waiting.push_back(id);
                return Some(id);
            }
        }
        let all = peers.iter_after(self.first);
        self.waiting.extend(all.filter(|(id, peer)| has_packets(*id, peer)).map(|(id, _)| id));
        self.first = *self.waiting.front()?;
        self.waiting.rotate_left(1);
        Some(self.first)
    }
}
