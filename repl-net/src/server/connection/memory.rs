//! Measures the memory that a connection holds for its client, and limits it.
//!
//! *Invariant:* at the configured limit only a few probe packets are sent. So the memory grows only with
//! changes of the world, which are merged for each object.

use std::time::Duration;

use super::Connection;

/// How many timeouts of a connection the close of an object may stay unacknowledged. At 90 % loss in both
/// directions one try in 12 is acknowledged, and there are four tries a second (R9). So of a million closes
/// two are not acknowledged within 40 s.
const CLOSE_TIMEOUTS: u32 = 4;

/// How many round trips it may take if they are long.
const CLOSE_ROUND_TRIPS: u32 = 8;

impl Connection {
    /// About how many bytes of memory are stored for what the client has not acknowledged. O(1).
    pub(crate) fn memory_bytes(&self) -> usize {
        self.outbox.memory_bytes()
    }

    /// Called before a pass: measures the memory outside of packets. If there is no room for another packet's
    /// record, it frees the spare buffers, and the records for late acks. What those cover is sent again.
    pub(super) fn limit_memory(&mut self) {
        self.weigh();
        if !self.outbox.has_memory() {
            self.outbox.give_back_spare();
            self.late.clear();
            self.late.end_round();
            self.weigh();
        }
    }

    /// Measures the memory outside of packets.
    pub(super) fn weigh(&mut self) {
        self.outbox.other_bytes = self.objects.weigh() + self.late.held_bytes() + self.blobs.held_bytes();
    }

    /// Whether the client left too much unacknowledged for too long: more memory than its limit for a
    /// `timeout`, or the close of an object for several timeouts. A slot cannot be reused before that ack.
    pub(crate) fn is_overdue(&mut self, timeout: Duration, now: Duration) -> bool {
        if !self.is_live {
            return false;
        }
        if self.link.is_over_memory_for(timeout, now) {
            return true;
        }
        let round_trips = self.link.round_trip.smoothed().saturating_mul(CLOSE_ROUND_TRIPS);
        let close_timeout = timeout.saturating_mul(CLOSE_TIMEOUTS).max(round_trips);
        now.checked_sub(close_timeout).is_some_and(|start| self.objects.has_overdue_close(start))
    }
}
