//! What a server counts of its clients and of strangers.
//!
//! *Invariant:* each newcomer that is not accepted is counted once.

/// What a [`QuicServer`](crate::QuicServer) has counted so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerCounters {
    /// The clients that have finished the handshake of TLS.
    pub accepted: u64,
    /// The newcomers that were asked to prove their addresses first.
    pub retries: u64,
    /// The newcomers that were refused, because there were too many clients or unfinished handshakes, of all
    /// or of their origin, or because the server takes no more clients.
    pub refused: u64,
    /// The handshakes that were not finished in time, or failed.
    pub failed_handshakes: u64,
    /// The clients that speak another protocol, or that take no datagrams.
    pub strangers: u64,
    /// The packets that were not sent, because the system took no more for longer than a tick, or because
    /// they were larger than the path carries by now. They count as lost.
    pub dropped: u64,
}
