//! A check for debug builds: it panics if packets are received and never polled.
//!
//! *Invariant:* after a single poll, this check never panics.

use std::time::Duration;

/// Whether packets were ever polled, and when the first packet was received.
#[derive(Debug, Default)]
pub(crate) struct PollWatch {
    first_receipt: Option<Duration>,
    was_polled: bool,
}

impl PollWatch {
    pub(crate) const fn was_polled(&self) -> bool {
        self.was_polled
    }

    pub(crate) const fn polled(&mut self) {
        self.was_polled = true;
    }

    /// Records that a packet was received. `remedy` is the end of the panic text, and names the missing call.
    ///
    /// # Panics
    /// Panics in debug builds if packets have arrived for half of `timeout` and were never polled.
    #[track_caller]
    pub(crate) fn received(&mut self, now: Duration, timeout: Duration, remedy: &str) {
        let silent = now.saturating_sub(*self.first_receipt.get_or_insert(now));
        debug_assert!(
            self.was_polled || silent.saturating_mul(2) < timeout,
            "packets have arrived for {silent:?}, and {remedy}",
        );
    }
}
