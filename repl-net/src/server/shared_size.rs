//! The size of packets for which the shared changes of a tick are cut: the smallest of all connections.
//!
//! *Invariant:* it is never less than [`FLOOR_BYTES`] because of one client. A connection with smaller packets
//! takes shared changes entry by entry, and those that do not fit alone.

use repl_link::parts::Peers;

use super::connection::Connection;

/// The least size for which shared changes are cut, unless the server itself is configured with a smaller one.
const FLOOR_BYTES: usize = 1_100;

/// The size of packets for which shared changes are cut. Found again when the size of a connection may have
/// changed.
#[derive(Debug, Default)]
pub(super) struct SharedSize {
    known: Option<usize>,
}

impl SharedSize {
    /// Notes that a connection has begun, has ended, or has packets of another size.
    pub(super) fn changed(&mut self) {
        self.known = None;
    }

    /// Returns the size in bytes, with packets of at most `mtu_bytes` bytes. Costs O(connections) after a
    /// change.
    pub(super) fn bytes(&mut self, peers: &Peers<Connection>, mtu_bytes: usize) -> usize {
        *self.known.get_or_insert_with(|| {
            let connected = peers.iter().filter(|(_, peer)| peer.handshake.is_connected());
            let sizes = connected.map(|(_, peer)| peer.connection.link.outbox.packet_bytes());
            sizes.min().unwrap_or(mtu_bytes).max(FLOOR_BYTES).min(mtu_bytes)
        })
    }
}
