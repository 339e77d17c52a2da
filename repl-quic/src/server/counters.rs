//! What a server counts of its clients and of strangers.
//!
//! *Invariant:* each newcomer that is not accepted is counted once.

use crate::telemetry::count;

/// What a [`QuicServer`](crate::QuicServer) has counted so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuicCounters {
    /// The clients whose first packet has come, after the handshake of TLS.
    pub accepted: u64,
    /// The newcomers that were asked to prove their addresses first.
    pub retries: u64,
    /// The newcomers that were refused, because there were too many clients or unfinished handshakes, of all
    /// or of their origin, or because the server takes no more clients.
    pub refused: u64,
    /// The handshakes that failed or were not finished in time, with the first packet of the client.
    pub failed_handshakes: u64,
    /// The clients that speak another protocol, or that take no datagrams.
    pub strangers: u64,
    /// The packets that were not sent, because the system took no more for longer than a tick, or because
    /// they were larger than the path carries by now. They count as lost.
    pub dropped: u64,
}

/// Something that a server counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    Accepted,
    Retry,
    Refused,
    FailedHandshake,
    Stranger,
    Dropped,
}

impl QuicCounters {
    /// Counts something once.
    pub(super) fn count(&mut self, what: Count) {
        let counter = match what {
            Count::Accepted => {
                count!("repl_quic_clients_accepted");
                &mut self.accepted
            }
            Count::Retry => {
                count!("repl_quic_retries");
                &mut self.retries
            }
            Count::Refused => {
                count!("repl_quic_clients_refused");
                &mut self.refused
            }
            Count::FailedHandshake => {
                count!("repl_quic_handshakes_failed");
                &mut self.failed_handshakes
            }
            Count::Stranger => {
                count!("repl_quic_strangers");
                &mut self.strangers
            }
            Count::Dropped => {
                count!("repl_quic_packets_dropped");
                &mut self.dropped
            }
        };
        *counter = counter.saturating_add(1);
    }
}
