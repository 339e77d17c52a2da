//! The trait of types that identify the sender of a message.

use crate::session::connection_id::ConnectionId;

/// Identifies the sender of a message. On a server this is the connection. On a client it is `()`, because
/// all messages come from the server.
pub trait Sender: Copy + Ord + Send + Sync + 'static {
    /// Whether the senders are clients.
    const IS_CLIENT: bool;

    /// Returns the connection of the sender if the sender is a client, and `None` on a client.
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
