//! Decides whether a connection has nothing to do in the next ticks, so that the server need not visit it.
//!
//! *Invariant:* if no packet arrives, the world does not change and the user calls nothing, the passes of a
//! connection send nothing before the time that `rests_until` returns.

use std::time::Duration;

use super::Connection;

impl Connection {
    /// Returns the time at which the connection must send its next keep-alive packet (R9), if it has nothing
    /// to do before. Returns `None` if it has something to do. The answer holds as long as the world does not
    /// change, no packet arrives and the user calls nothing. `timeout` is the shorter timeout of both sides.
    pub(crate) fn rests_until(&self, timeout: Duration) -> Option<Duration> {
        let has_sent_all = self.link.outbox.in_flight.unresolved() == 0
            && self.copies.objects.is_at_rest()
            && self.copies.blobs.is_empty()
            && self.assets.is_at_rest()
            && self.link.exchange.is_at_rest();
        let rests = self.copies.is_live
            && has_sent_all
            && self.link.health.is_at_rest()
            && !self.link.owes_acks()
            && !self.link.is_probing()
            && self.copies.followed.is_none();
        rests.then(|| self.link.silent_until(timeout))
    }
}
