//! The trait of types that identify the sender of a message.

use crate::session::connection_id::ConnectionId;

/// Identifies the sender of a message: on a server its connection, on a client nothing.
pub trait Sender: Copy + Ord + Send + Sync + 'static {
    /// Whether the senders are clients.
    const IS_CLIENT: bool;

    /// Returns the connection of a client.
    fn connection(self) -> Option<ConnectionId>;
}

impl Sender for ConnectionId {
    const IS_CLIENT: bool = true;

    fn connection(self) -> Option<ConnectionId> {
        Some(self)
    }
}

impl Sender for () {
    const IS_CLIENT: bool = false;

    fn connection(self) -> Option<ConnectionId> {
        None
    }
}
