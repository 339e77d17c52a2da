//! What the server stores about one client: its handshake and its connection.
//!
//! *Invariant:* the connection sends state if and only if the handshake is in the connected state.

use repl_core::ObjectRef;

use super::connection::Connection;
use crate::session::server_handshake::ServerHandshake;

/// What the server stores about one client: its session and its connection.
pub(super) struct Peer {
    pub(super) handshake: ServerHandshake,
    pub(super) connection: Connection,
    /// The packet that was last returned to the user.
    pub(super) lent: Vec<u8>,
    /// The object from whose position the client sees.
    pub(super) followed: Option<ObjectRef<()>>,
}
