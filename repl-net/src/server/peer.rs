//! A client, as its server keeps it.
//!
//! *Invariant:* state flows on the connection exactly while the handshake is connected.

use super::connection::Connection;
use crate::session::server_handshake::ServerHandshake;

/// A client: its session, and what it has of the world.
pub(super) struct Peer {
    pub(super) handshake: ServerHandshake,
    pub(super) connection: Connection,
    /// The packet that was last lent out.
    pub(super) lent: Vec<u8>,
}
