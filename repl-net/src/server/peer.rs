//! A client as the server stores it.
//!
//! *Invariant:* the connection sends state exactly while the handshake is connected.

use super::connection::Connection;
use crate::session::server_handshake::ServerHandshake;

/// A client: its session, and its connection.
pub(super) struct Peer {
    pub(super) handshake: ServerHandshake,
    pub(super) connection: Connection,
    /// The packet that was last returned.
    pub(super) lent: Vec<u8>,
}
