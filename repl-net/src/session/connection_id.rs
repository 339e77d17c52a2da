//! The name of a connection.
//!
//! *Invariant:* a server gives each number once.

/// Names a connection of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub(crate) u32);

impl ConnectionId {
    /// The number of the connection, from zero in the order of connecting; never used again.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
