//! The id of a connection.
//!
//! *Invariant:* a server uses each number once.

/// Identifies a connection of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub(crate) u32);

impl ConnectionId {
    /// The number of the connection, from zero in the order of connecting. It is never used again.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
