//! When the ticks of a server began, and when later ones will.
//!
//! *Invariant:* the time between two ticks is never negative.

use std::time::Duration;

/// The ticks of a server, and when they were.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TickTimes {
    /// The last tick.
    pub(crate) tick: u64,
    at: Duration,
    /// The smoothed time between two ticks in seconds. Zero before the second tick.
    interval_secs: f64,
}

/// A tick counts for this part of the smoothed time between ticks.
const SMOOTHING: f64 = 1.0 / 16.0;

impl TickTimes {
    /// Records that a tick begins.
    pub(crate) fn begin(&mut self, tick: u64, now: Duration) {
        let elapsed = now.saturating_sub(self.at).as_secs_f64();
        if self.interval_secs > 0.0 {
            self.interval_secs += SMOOTHING * (elapsed - self.interval_secs);
        } else if self.tick > 0 {
            self.interval_secs = elapsed;
        }
        (self.tick, self.at) = (tick, now);
    }

    /// Returns how many ticks after `now` a tick begins. Negative if it began before.
    pub(crate) fn until(&self, tick: u64, now: Duration) -> f64 {
        let since = now.saturating_sub(self.at).as_secs_f64();
        let passed = if self.interval_secs > 0.0 { since / self.interval_secs } else { 0.0 };
        tick as f64 - self.tick as f64 - passed
    }
}
