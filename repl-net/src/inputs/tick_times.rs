//! The times at which the ticks of a server began, and an estimate for future ticks.
//!
//! *Invariant:* the time between two ticks is never negative.

use std::time::Duration;

/// The last tick of a server, and the measured time between ticks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TickTimes {
    /// The newest tick.
    pub(crate) tick: u64,
    /// The time at which the newest tick began. `None` if no tick was recorded.
    at: Option<Duration>,
    /// The smoothed time between two ticks in seconds. Zero before the second tick.
    interval_secs: f64,
}

/// The weight of the newest interval in the smoothed time between ticks.
const SMOOTHING: f64 = 1.0 / 16.0;

impl TickTimes {
    /// Returns the times of a server that has begun `ticks` ticks.
    pub(crate) fn after(ticks: u64) -> Self {
        Self { tick: ticks, ..Self::default() }
    }

    /// Records that a tick begins.
    pub(crate) fn begin(&mut self, tick: u64, now: Duration) {
        if let Some(at) = self.at {
            let elapsed = now.saturating_sub(at).as_secs_f64();
            let known = if self.interval_secs > 0.0 { self.interval_secs } else { elapsed };
            self.interval_secs = known + SMOOTHING * (elapsed - known);
        }
        (self.tick, self.at) = (tick, Some(now));
    }

    /// Returns the time from `now` to the beginning of a tick, in ticks. Negative if the tick has already
    /// begun.
    pub(crate) fn until(&self, tick: u64, now: Duration) -> f64 {
        let since = self.at.map_or(0.0, |at| now.saturating_sub(at).as_secs_f64());
        let passed = if self.interval_secs > 0.0 { since / self.interval_secs } else { 0.0 };
        tick as f64 - self.tick as f64 - passed
    }
}
