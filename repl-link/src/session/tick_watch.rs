//! A check for debug builds: it panics if a game loop receives or polls packets but never calls `tick`.
//!
//! *Invariant:* only a missing call of `tick` can cause the panic. The packets of a peer cannot cause it.

use std::time::Duration;

/// How often a client that never ticked may be polled without result.
const MAX_IDLE_POLLS: u32 = 1_000;

/// The packets and polls since the last tick.
#[derive(Debug, Default)]
pub(crate) struct TickWatch {
    /// When the first packet after the last tick was received.
    first_receipt: Option<Duration>,
    /// How many polls before the first tick had no result.
    idle_polls: u32,
}

impl TickWatch {
    /// Notes that `tick` was called.
    pub(crate) fn ticked(&mut self) {
        self.first_receipt = None;
    }

    /// Notes that a packet was received.
    ///
    /// # Panics
    /// In debug builds, if packets have arrived for half of `timeout` and `tick` was not called in that time.
    /// Without ticks, the other sides would soon close the connection.
    #[track_caller]
    pub(crate) fn received(&mut self, now: Duration, timeout: Duration, owner: &str) {
        let silent = now.saturating_sub(*self.first_receipt.get_or_insert(now));
        debug_assert!(
            silent.saturating_mul(2) < timeout,
            "packets have arrived for {silent:?}, but `{owner}::tick` was not called: call it in every frame, it makes the packets to be sent",
        );
    }

    /// Counts one more time that packets were asked for before the first tick.
    ///
    /// # Panics
    /// In debug builds, if this has happened 1,000 times.
    #[track_caller]
    pub(crate) fn polled_before_tick(&mut self) {
        self.idle_polls = self.idle_polls.saturating_add(1);
        debug_assert!(
            self.idle_polls < MAX_IDLE_POLLS,
            "packets were asked for {MAX_IDLE_POLLS} times, but `Client::tick` was never called: call it in every frame, it says hello to the server",
        );
    }
}
