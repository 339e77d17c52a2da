//! Measures and limits the memory that a connection uses for data that its client has not acknowledged.
//!
//! *Invariant:* when the memory of a connection reaches its limit, only a few packets are sent to probe the
//! link. When the limit is reached, the memory grows only because objects change, and the changes of each
//! object are merged.

use std::time::Duration;

use repl_link::DisconnectReason;

use super::Connection;

/// The number of timeouts for which the closing (removal) of an object may remain unacknowledged. Even at 90
/// % loss in each direction, with four retries a second (R9), only two of a million closings are not
/// acknowledged within 40 s.
const CLOSE_TIMEOUTS: u32 = 4;

/// The number of round trips for which the closing (removal) of an object may remain unacknowledged, if they
/// take longer than [`CLOSE_TIMEOUTS`] timeouts.
const CLOSE_ROUND_TRIPS: u32 = 8;

impl Connection {
    /// Returns about how many bytes of memory the server uses for everything that the client has not
    /// acknowledged. Costs O(1).
    pub(crate) fn memory_bytes(&self) -> usize {
        self.link.outbox.memory_bytes()
    }

    /// Called before the connection sends the packets of a tick. Measures the memory that the connection uses
    /// outside the outbox. If there is no room for the record of another packet, frees the spare buffers and
    /// the records of lost packets. Without the record of its packet, a late ack has no effect, and the
    /// content of the packet is sent again.
    pub(super) fn limit_memory(&mut self) {
        self.measure_memory();
        if !self.link.outbox.has_memory() {
            self.link.outbox.free_spare();
            self.link.forget_late();
            self.measure_memory();
        }
    }

    pub(super) fn measure_memory(&mut self) {
        self.link.outbox.other_bytes = self.copies.objects.measure_memory()
            + self.link.other_bytes()
            + self.copies.blobs.held_bytes()
            + self.copies.bases.held_bytes()
            + self.calls.heap_bytes()
            + self.assets.held_bytes()
            + self.copies.last_rights.heap_bytes();
    }

    /// Checks that the client acknowledges data often enough.
    ///
    /// # Errors
    /// Returns an error in three cases:
    /// - The connection used more memory than its limit for a whole `timeout`.
    /// - The closing of an object was not acknowledged for several timeouts, or waited for so long for an ack
    ///   of the calls on the object. The slot of a closed object cannot be used for another object before the
    ///   closing is acknowledged.
    /// - A message of the client makes no progress.
    pub(crate) fn check_progress(
        &mut self,
        timeout: Duration,
        now: Duration,
    ) -> Result<(), DisconnectReason> {
        if !self.copies.is_live {
            return Ok(());
        }
        let round_trip = self.link.health.round_trip.smoothed();
        let close_timeout =
            timeout.saturating_mul(CLOSE_TIMEOUTS).max(round_trip.saturating_mul(CLOSE_ROUND_TRIPS));
        let start = now.checked_sub(close_timeout).filter(|&start| self.has_run_since(start));
        let has_overdue_close = start.is_some_and(|start| self.copies.objects.has_overdue_close(start, now));
        if self.link.health.is_over_memory_for(timeout, now) || has_overdue_close {
            return Err(DisconnectReason::Unacknowledged);
        }
        self.link.exchange.expire(timeout, round_trip, now)
    }
}
