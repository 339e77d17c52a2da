//! The id of a connection.
//!
//! *Invariant:* a server never uses a connection number again.

/// Identifies a connection of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub(crate) u32);

impl ConnectionId {
    /// Returns the number of the connection: connections are numbered from zero in the order in which they
    /// connect. A number is never used again.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the id with this number, for a test without connections.
    #[must_use]
    pub const fn for_tests(number: u32) -> Self {
        Self(number)
    }
}
