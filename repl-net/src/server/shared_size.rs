//! The packet size to which the shared changes of a tick are fitted: the smallest packet size of all
//! connections.
//!
//! *Invariant:* a client with smaller packets than [`FLOOR_BYTES`] never makes the size smaller than this.
//! For a connection with smaller packets, shared changes are sent entry by entry, and entries that do not fit
//! are encoded separately for this connection.

use repl_link::parts::Peers;

use super::connection::Connection;

/// The least packet size to which shared changes are fitted, unless the server itself is configured with a
/// smaller size.
const FLOOR_BYTES: usize = 1_100;

/// The packet size to which shared changes are fitted. It is computed again after the size of a connection
/// may have changed.
#[derive(Debug, Default)]
pub(super) struct SharedSize {
    known: Option<usize>,
}

impl SharedSize {
    /// Records that a connection has begun, has ended, or has another packet size.
    pub(super) fn changed(&mut self) {
        self.known = None;
    }

    /// Returns the size in bytes. It is at most `mtu_bytes`. Costs O(connections) after a change.
    pub(super) fn bytes(&mut self, peers: &Peers<Connection>, mtu_bytes: usize) -> usize {
        *self.known.get_or_insert_with(|| {
            let connected = peers.iter().filter(|(_, peer)| peer.handshake.is_connected());
            let sizes = connected.map(|(_, peer)| peer.connection.link.outbox.packet_bytes());
            sizes.min().unwrap_or(mtu_bytes).max(FLOOR_BYTES).min(mtu_bytes)
        })
    }
}
