//! The reasons why connections end.
//!
//! *Invariant:* a connection ends once, and for one reason.

use super::limits::LimitMismatch;
use super::mismatch::LayoutMismatch;

/// Why a connection ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DisconnectReason {
    /// One side closed the connection.
    #[error("closed")]
    Closed,
    /// The other side was silent for longer than the configured time.
    #[error("timed out")]
    Timeout,
    /// The client was alive, but did not acknowledge packets for too long. Either the memory that the server
    /// keeps for the client exceeded
    /// [`ServerConfig::max_connection_bytes`](crate::ServerConfig::max_connection_bytes) for a whole
    /// [`timeout`](crate::ServerConfig::timeout), or the client did not acknowledge for four timeouts that an
    /// object was closed. The client may connect again. If the client's link is too slow for the world's
    /// changes, hide objects from the client or raise the limit.
    #[error("too much was not acknowledged for too long")]
    Unacknowledged,
    /// The other side began a reliable message and did not finish it: for 30 s, three timeouts and 40 round
    /// trips no part of it arrived, or no earlier message for which it waits.
    #[error("a message was not finished for too long")]
    Stalled,
    /// The classes of the two sides differ.
    #[error("layouts differ: {0}")]
    Layouts(LayoutMismatch),
    /// The client's limits are below the server's, so the server could send more than the client can hold.
    #[error("limits differ: {0}")]
    Limits(LimitMismatch),
    /// Only clients report this reason. The server's connection for this address belongs to another session,
    /// usually an earlier session of the same address. The server frees the connection after its
    /// [`timeout`](crate::ServerConfig::timeout). After the timeout a new client may connect from this
    /// address. From another address a new client may connect immediately.
    #[error(
        "the connection belongs to another session: try again with a new client once the server has timed out the other one, or from \
         another address"
    )]
    Taken,
    /// Only servers report this reason. The validator of this call rejected its parameters (S221).
    #[error("the call `{0}` was rejected")]
    Rejected(&'static str),
    /// The other side sent a packet that the protocol forbids.
    #[error("protocol error: {0}")]
    Protocol(String),
}
