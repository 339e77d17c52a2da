//! A virtual clock that counts ticks.
//!
//! *Invariant:* the time is computed only from the number of ticks, so rounding errors do not add up.

use std::time::Duration;

/// A virtual clock for tests, which counts ticks. The clock moves on by one tick at each call of
/// [`tick`](Self::tick).
///
/// ```
/// # mod repl { pub(crate) use repl_sim as sim; }
/// use repl::sim::Clock;
/// use std::time::Duration;
///
/// let mut clock = Clock::at_hz(60);
/// assert_eq!(clock.now(), Duration::ZERO);
/// for _ in 0..60 {
///     clock.tick();
/// }
/// assert_eq!(clock.now(), Duration::from_secs(1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    start: Duration,
    ticks_per_second: u32,
    ticks: u64,
}

impl Clock {
    /// Returns a clock with that many ticks a second, at time zero.
    ///
    /// # Panics
    /// Panics if `ticks_per_second` is 0.
    pub const fn at_hz(ticks_per_second: u32) -> Self {
        assert!(ticks_per_second > 0, "a clock ticks at least once a second");
        Self { start: Duration::ZERO, ticks_per_second, ticks: 0 }
    }

    /// Returns the same clock, but with `start` as the time at which it starts. Use `starting_at` to test
    /// code that must not depend on the time at which the clock starts.
    #[must_use]
    pub const fn starting_at(self, start: Duration) -> Self {
        Self { start, ..self }
    }

    /// Returns the current time of the clock.
    pub fn now(&self) -> Duration {
        let rate = u64::from(self.ticks_per_second);
        let nanos = (self.ticks % rate) * 1_000_000_000 / rate;
        self.start + Duration::from_secs(self.ticks / rate) + Duration::from_nanos(nanos)
    }

    /// Moves the clock on by one tick, and returns the new time.
    pub fn tick(&mut self) -> Duration {
        self.ticks += 1;
        self.now()
    }

    /// Returns how many ticks have passed since the start of the clock.
    pub const fn ticks(&self) -> u64 {
        self.ticks
    }

    /// Returns the length of a tick, rounded down to nanoseconds.
    pub const fn step(&self) -> Duration {
        Duration::from_nanos(1_000_000_000 / self.ticks_per_second as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_do_not_drift() {
        let mut clock = Clock::at_hz(60).starting_at(Duration::from_secs(1_000));
        for _ in 0..60 * 3_600 {
            clock.tick();
        }
        assert_eq!(clock.now(), Duration::from_secs(4_600));
        assert_eq!(clock.ticks(), 216_000);
        assert_eq!(clock.step(), Duration::from_nanos(16_666_666));
    }
}
