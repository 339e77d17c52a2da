//! How long a client may still lack changes after the last change.
//!
//! *Invariant:* the clock stops only after a packet that was lost in a burst, and not longer than R9 allows
//! until the next try.

use std::time::Duration;

/// The time that counts for one client.
///
/// The length of a burst of losses is a number of packets, not a time: a bad link stays bad until this number
/// of packets was sent. The protocol must try at least every [`RETRY`](Self::RETRY), or as soon as an ack
/// could have arrived. So the clock stops for this time after each packet that was lost in a burst.
pub(crate) struct Watch {
    /// The time since the clock began, and the part of this time that counts.
    passed: Duration,
    counted: Duration,
    now: Duration,
    /// How many packets bursts have lost so far.
    taken: u64,
    stands_until: Duration,
}

impl Watch {
    /// The time between two tries to reach a client over a link that does not answer (R9).
    const RETRY: Duration = Duration::from_millis(250);
    /// The longest time that bursts may delay a client.
    const MAX: Duration = Duration::from_secs(60);

    /// Creates a clock that begins now. `taken` is the number of packets that bursts have lost before.
    pub(crate) const fn new(now: Duration, taken: u64) -> Self {
        Self { passed: Duration::ZERO, counted: Duration::ZERO, now, taken, stands_until: now }
    }

    /// Advances the clock to `now`. `taken` is the number of packets that bursts have lost since the
    /// beginning.
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

    /// Returns the time so far, without the time in which the clock stopped.
    pub(crate) const fn counted(&self) -> Duration {
        self.counted
    }

    /// Returns whether more time counts than `patience`, or more time has passed than `patience` and
    /// [`MAX`](Self::MAX).
    pub(crate) fn is_over(&self, patience: Duration) -> bool {
        self.counted > patience || self.passed > patience.max(Self::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how much of ten seconds counts if bursts lose packets at this interval.
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
