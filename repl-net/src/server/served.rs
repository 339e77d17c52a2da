//! The connections that have a turn in a tick, if not all have one.
//!
//! *Invariant:* a connection without a turn in a tick has one before any other connection has two.

use super::peers::Peers;
use crate::session::connection_id::ConnectionId;

/// Which connections have a turn in a tick.
#[derive(Debug)]
pub(super) struct Served {
    /// The connections that have a turn in this tick, in ascending order. `None` if all have one.
    chosen: Option<Vec<ConnectionId>>,
    last: ConnectionId,
}

impl Served {
    pub(super) const fn new() -> Self {
        Self { chosen: None, last: ConnectionId(u32::MAX) }
    }

    /// Chooses the next `count` connections that are connected.
    pub(super) fn choose(&mut self, peers: &Peers, count: usize) {
        if count >= peers.len() {
            self.chosen = None;
            return;
        }
        let chosen = self.chosen.get_or_insert_default();
        chosen.clear();
        let all = peers.iter_after(self.last);
        let connected = all.filter(|(_, peer)| peer.handshake.is_connected()).map(|(id, _)| id);
        chosen.extend(connected.take(count));
        self.last = chosen.last().copied().unwrap_or(self.last);
        chosen.sort_unstable();
    }

    /// Returns whether a connection has a turn in this tick.
    pub(super) fn contains(&self, id: ConnectionId) -> bool {
        self.chosen.as_ref().is_none_or(|chosen| chosen.binary_search(&id).is_ok())
    }
}
