//! Why connections end.
//!
//! *Invariant:* a connection ends once, for one reason.

use super::limits::LimitMismatch;
use super::mismatch::LayoutMismatch;

/// Why a connection ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DisconnectReason {
    /// One side asked for it.
    #[error("closed")]
    Closed,
    /// Nothing was heard of the peer for the configured time.
    #[error("timed out")]
    Timeout,
    /// The client was alive and for too long left too much unacknowledged: what the server keeps for it took
    /// more than [`ServerConfig::max_connection_bytes`](crate::ServerConfig::max_connection_bytes) for a
    /// whole [`timeout`](crate::ServerConfig::timeout), or the end of an object stayed unacknowledged for
    /// four of them. A client that means well may connect again; if its link is too slow for what the world
    /// sends, hide objects from it or raise the limit.
    #[error("too much was not acknowledged for too long")]
    Unacknowledged,
    /// The classes of the two sides differ.
    #[error("layouts differ: {0}")]
    Layouts(LayoutMismatch),
    /// The client cannot hold what the server may send.
    #[error("limits differ: {0}")]
    Limits(LimitMismatch),
    /// Told to a client: the server's connection is held by another session, an earlier one of this address
    /// as a rule. The server lets go of that after its [`timeout`](crate::ServerConfig::timeout); then a new
    /// client may try again, or at once from another address.
    #[error(
        "the connection belongs to another session: try again with a new client once the server has timed out the other one, or from \
         another address"
    )]
    Taken,
    /// The peer sent what it must not send.
    #[error("protocol error: {0}")]
    Protocol(String),
}
