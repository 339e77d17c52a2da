//! How long a client may still lack something once changes have stopped.
//!
//! *Invariant:* the clock stands only after a packet that a burst took, and no longer than R9 leaves until the next try.

use std::time::Duration;

/// The time that counts for one client.
///
/// Links that lose in bursts do so by packets, not by time: one that is bad stays so until it was tried so and so often. What the protocol owes
/// is that it tries, at least every [`RETRY`](Self::RETRY) or as soon as an ack could be there; so that is what the clock gives it for each
/// packet that was taken.
pub(crate) struct Watch {
    /// All time, and of it the time that counts.
    passed: Duration,
    counted: Duration,
    now: Duration,
    /// What bursts took so far.
    taken: u64,
    stands_until: Duration,
}

impl Watch {
    /// How often a link that does not answer is tried (R9).
    const RETRY: Duration = Duration::from_millis(250);
    /// The longest that bursts may hold a client up.
    const MAX: Duration = Duration::from_secs(60);

    /// A clock that begins now; bursts have taken so many packets before.
    pub(crate) const fn new(now: Duration, taken: u64) -> Self {
        Self { passed: Duration::ZERO, counted: Duration::ZERO, now, taken, stands_until: now }
    }

    /// Moves on to `now`; bursts have taken so many packets since the beginning.
    pub(crate) fn tick(&mut self, now: Duration, taken: u64, round_trip: Duration) {
        let step = now - self.now;
        self.passed += step;
        if now > self.stands_until {
            self.counted += step;
        }
        if taken > self.taken {
            self.stands_until = now + Self::RETRY.max(round_trip);
        }
        (self.now, self.taken) = (now, taken);
    }

    /// The time that counts.
    pub(crate) const fn counted(&self) -> Duration {
        self.counted
    }

    /// Whether more time has passed than there was.
    pub(crate) fn is_over(&self, patience: Duration) -> bool {
        self.counted > patience || self.passed > patience.max(Self::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How much of ten seconds counts if bursts take a packet every so often.
    fn counted(every: Duration) -> Duration {
        let mut watch = Watch::new(Duration::ZERO, 0);
        for ms in 1..=10_000 {
            let now = Duration::from_millis(ms);
            watch.tick(now, ms / every.as_millis() as u64, Duration::from_millis(100));
        }
        watch.counted()
    }

    #[test]
    fn a_burst_that_is_tried_often_enough_does_not_count() {
        assert_eq!(counted(Duration::from_secs(60)), Duration::from_secs(10));
        assert_eq!(counted(Duration::from_millis(250)), Duration::from_millis(250));
        assert_eq!(counted(Duration::from_secs(1)), Duration::from_millis(1_000 + 9 * 750));
    }
}
