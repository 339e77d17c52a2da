//! The reasons why connections end.
//!
//! *Invariant:* a connection ends once, for one reason.

use super::limits::LimitMismatch;
use super::mismatch::LayoutMismatch;

/// Why a connection ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DisconnectReason {
    /// One side closed the connection.
    #[error("closed")]
    Closed,
    /// The peer was silent for the configured time.
    #[error("timed out")]
    Timeout,
    /// The client was alive but left too much unacknowledged for too long. Either the memory that the server
    /// keeps for it exceeded
    /// [`ServerConfig::max_connection_bytes`](crate::ServerConfig::max_connection_bytes) for a whole
    /// [`timeout`](crate::ServerConfig::timeout), or the close of an object stayed unacknowledged for four
    /// timeouts. The client may connect again. If its link is too slow for the world's changes, hide objects
    /// from it or raise the limit.
    #[error("too much was not acknowledged for too long")]
    Unacknowledged,
    /// The classes of the two sides differ.
    #[error("layouts differ: {0}")]
    Layouts(LayoutMismatch),
    /// The client's limits are too low for what the server may send.
    #[error("limits differ: {0}")]
    Limits(LimitMismatch),
    /// Reported by a client: the server's connection belongs to another session, mostly an earlier one of
    /// this address. The server frees the connection after its [`timeout`](crate::ServerConfig::timeout).
    /// Then a new client may try again. From another address it may try at once.
    #[error(
        "the connection belongs to another session: try again with a new client once the server has timed out the other one, or from \
         another address"
    )]
    Taken,
    /// The peer sent something that the protocol forbids.
    #[error("protocol error: {0}")]
    Protocol(String),
}
