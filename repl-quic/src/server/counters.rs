//! The counters of a server, about clients and newcomers.
//!
//! *Invariant:* each newcomer that is not accepted is counted once.

use crate::telemetry::count;

/// The counters of a [`QuicServer`](crate::QuicServer).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuicCounters {
    /// The number of accepted clients: they have finished the TLS handshake, and their first packet has
    /// arrived.
    pub accepted: u64,
    /// The number of newcomers that had to prove their addresses first.
    pub retries: u64,
    /// The number of newcomers that were refused, because there were too many clients or unfinished
    /// handshakes (in total or from their origin), or because the server accepts no more clients before it
    /// ends.
    pub refused: u64,
    /// The number of newcomers whose connection failed before their first packet arrived, or whose first
    /// packet was too late.
    pub failed_handshakes: u64,
    /// The number of peers that use another protocol, that do not accept datagrams, or that are web pages
    /// which may not connect.
    pub strangers: u64,
    /// The number of packets that were not sent, because the system accepted no datagrams for longer than a
    /// tick, or because they were larger than the path allowed. They count as lost.
    pub dropped: u64,
}

/// Selects a counter.
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
