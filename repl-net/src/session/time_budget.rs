//! [`TimeBudget`]: the time for which the calls of one client may still run.
//!
//! *Invariant:* in any period, the calls of a client run for at most the allowed share of the period, plus
//! the share of one second, plus the time of one call.

use std::time::Duration;

/// The time for which calls may still run. It is refilled while time passes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TimeBudget {
    /// The used time that was not refilled yet.
    used: Duration,
    /// The time of the last refill.
    refilled: Duration,
}

impl TimeBudget {
    /// Refills the budget up to `now`: each second adds `per_second`. Returns whether some time remains.
    pub(crate) fn refill(&mut self, now: Duration, per_second: Duration) -> bool {
        let passed = now.saturating_sub(self.refilled).min(Duration::from_secs(3_600));
        self.refilled = now.max(self.refilled);
        let refilled = Duration::try_from_secs_f64(per_second.as_secs_f64() * passed.as_secs_f64());
        self.used = self.used.saturating_sub(refilled.unwrap_or(Duration::MAX));
        self.used < per_second
    }

    pub(crate) fn spend(&mut self, time: Duration) {
        self.used = self.used.saturating_add(time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARE: Duration = Duration::from_millis(50);

    #[test]
    fn a_second_refills_the_share_and_no_more_is_kept() {
        let mut budget = TimeBudget::default();
        assert!(budget.refill(Duration::from_secs(100), SHARE));
        budget.spend(SHARE * 3);
        assert!(!budget.refill(Duration::from_secs(100), SHARE));
        assert!(!budget.refill(Duration::from_millis(101_900), SHARE));
        assert!(budget.refill(Duration::from_millis(102_100), SHARE));
        // Even after a long time without calls, only one share is available, not several.
        assert!(budget.refill(Duration::from_secs(900), SHARE));
        budget.spend(SHARE);
        assert!(!budget.refill(Duration::from_secs(900), SHARE));
    }

    #[test]
    fn an_unlimited_share_refills_everything() {
        let mut budget = TimeBudget::default();
        budget.spend(Duration::from_secs(1 << 40));
        assert!(budget.refill(Duration::MAX, Duration::MAX));
        assert_eq!(budget.used, Duration::ZERO);
    }

    #[test]
    fn a_clock_that_jumps_back_gives_nothing() {
        let mut budget = TimeBudget::default();
        budget.refill(Duration::from_secs(100), SHARE);
        budget.spend(SHARE);
        assert!(!budget.refill(Duration::from_secs(5), SHARE));
        assert!(!budget.refill(Duration::from_secs(100), SHARE));
    }
}
