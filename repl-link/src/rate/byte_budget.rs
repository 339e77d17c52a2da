//! A limit on the bytes in a second, which the user sets for a connection.
//!
//! *Invariant:* in any period, the bytes that are sent are at most the budget of this period, plus the unused
//! budget of earlier ticks (one packet, or the budget of one tick if that is more), plus one packet if its
//! first update is larger than the rest of the budget.

use std::time::Duration;

const NANOS: u128 = 1_000_000_000;

/// A packet begins only if at least this many bytes may be sent, so that the frames of packets do not use up
/// a small budget.
const LEAST_PACKET_BYTES: usize = 64;

#[derive(Clone, Copy, Debug)]
pub(crate) struct ByteBudget {
    per_second: usize,
    /// The bytes that may be sent, in billionths of a byte. It is negative after a packet whose first update
    /// was larger than the rest of the budget.
    left: i128,
    since: Duration,
}

impl ByteBudget {
    /// Returns a budget that begins at the time `now`.
    pub(crate) fn new(per_second: usize, now: Duration) -> Self {
        Self { per_second, left: 0, since: now }
    }

    /// Adds the budget of the time since the last tick. Unused bytes of earlier ticks expire, except the
    /// bytes of one packet. Otherwise a long silence would allow a burst that the link may not carry.
    pub(crate) fn begin_pass(&mut self, now: Duration, packet_bytes: usize) {
        let elapsed = now.saturating_sub(self.since).as_nanos();
        let gain = (self.per_second as u128).saturating_mul(elapsed).min(i128::MAX as u128 / 4) as i128;
        self.since = self.since.max(now);
        let most = gain.max(packet_bytes as i128 * NANOS as i128);
        self.left = (self.left + gain).min(most);
    }

    pub(crate) fn spend(&mut self, bytes: usize) {
        self.left -= bytes as i128 * NANOS as i128;
    }

    /// Returns whether a packet may begin. The first update of a packet may exceed the budget. The excess is
    /// then subtracted from the budget of the next ticks.
    pub(crate) fn allows_packet(&self) -> bool {
        self.left_bytes() >= LEAST_PACKET_BYTES
    }

    /// Returns how many bytes may still be sent in this tick.
    pub(crate) fn left_bytes(&self) -> usize {
        usize::try_from(self.left.max(0) as u128 / NANOS).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_kept_over_time_and_silence_allows_no_burst() {
        let mut budget = ByteBudget::new(10_000, Duration::ZERO);
        let mut sent = 0;
        for tick in 1..=1_000_u64 {
            budget.begin_pass(Duration::from_millis(tick * 16), 1_200);
            while budget.allows_packet() {
                budget.spend(1_000);
                sent += 1_000;
            }
        }
        assert!((159_000..=161_200).contains(&sent), "{sent} bytes in 16 s");
        budget.begin_pass(Duration::from_secs(3_600), 1_200);
        assert_eq!(budget.left_bytes() / 10_000, 3_584, "a tick of an hour brings the budget of an hour");
        budget.begin_pass(Duration::from_secs(3_600), 1_200);
        assert_eq!(budget.left_bytes(), 1_200, "and what is left of it is lost");
        let mut unlimited = ByteBudget::new(usize::MAX, Duration::ZERO);
        unlimited.begin_pass(Duration::MAX, 1_200);
        assert!(unlimited.left_bytes() > 1 << 40);
    }
}
