//! Rate limits: a rate limit says how many times in a second an event may happen, for example the sending of
//! a packet. A rate limit is a token bucket.
//!
//! *Invariant:* a sender that obeys the limit of [`RateLimit::sending`] never exceeds the limit of
//! [`RateLimit::receiving`] on the other side, whatever delays the link causes before the connection times
//! out.

use std::time::Duration;

const NANOS: u128 = 1_000_000_000;

/// A token bucket that limits how many times in a second an event may happen.
#[derive(Clone, Copy, Debug)]
pub struct RateLimit {
    /// The number of events that are allowed in a second. In each nanosecond, this number of billionths of an
    /// event is added to `left`.
    rate: u128,
    /// The greatest value of `left`, in billionths of an event. `left` is the number of events that are still
    /// allowed, also in billionths.
    most: u128,
    left: u128,
    since: Duration,
}

impl RateLimit {
    /// Returns the limit that a sender must obey: `per_second` events in a second. At the start, and after a
    /// second without events, `per_second` events may happen at once.
    pub fn sending(per_second: u32) -> Self {
        let most = u128::from(per_second).saturating_mul(NANOS);
        Self { rate: per_second.into(), most, left: most, since: Duration::ZERO }
    }

    /// Returns the limit that a receiver allows: the limit of the sender, with room for larger bursts. A
    /// burst can contain `stored` events that the sender stored because the link was too slow, plus the
    /// events that were delayed in the link during an outage of a whole `timeout`. The clocks of the two
    /// sides may differ by 3 %.
    pub fn receiving(per_second: u32, stored: u32, timeout: Duration) -> Self {
        let rate = u128::from(per_second).saturating_add(u128::from(per_second / 32)).saturating_add(1);
        let at_once = u128::from(per_second).saturating_add(stored.into()).saturating_mul(NANOS);
        let most = rate.saturating_mul(timeout.as_nanos()).saturating_add(at_once);
        Self { rate, most, left: most, since: Duration::ZERO }
    }

    /// Returns how many events a second the limit allows.
    pub fn per_second(&self) -> u32 {
        u32::try_from(self.rate).unwrap_or(u32::MAX)
    }

    /// Returns whether one more event may happen at the time `now`.
    pub fn allows(&mut self, now: Duration) -> bool {
        // Most events happen at the same time as the previous event, and then no multiplication is needed.
        if now > self.since {
            let more = self.rate.saturating_mul(now.saturating_sub(self.since).as_nanos());
            self.left = self.left.saturating_add(more).min(self.most);
            self.since = now;
        }
        self.left >= NANOS
    }

    /// Counts an event. Call it only after [`allows`](Self::allows) has returned true.
    pub fn spend(&mut self) {
        self.left = self.left.saturating_sub(NANOS);
    }

    /// Counts an event that happens at the time `now`. Returns whether the limit allows the event.
    pub fn take(&mut self, now: Duration) -> bool {
        let allows = self.allows(now);
        if allows {
            self.spend();
        }
        allows
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    fn taken(limit: &mut RateLimit, now: Duration) -> usize {
        (0..100_000).take_while(|_| limit.take(now)).count()
    }

    #[test]
    fn a_second_allows_its_number_whatever_the_steps() {
        let mut limit = RateLimit::sending(60);
        assert_eq!(taken(&mut limit, ms(0)), 60);
        assert_eq!((1..=1_000).map(|at| taken(&mut limit, ms(at))).sum::<usize>(), 60);
        assert_eq!(taken(&mut limit, ms(1_500)), 30);
        assert_eq!(taken(&mut limit, ms(9_000)), 60, "a pause saves up one second");
        assert_eq!(taken(&mut limit, ms(8_000)), 0, "a clock that goes back adds nothing");
    }

    #[test]
    fn a_receiver_allows_what_an_outage_held_back_and_no_more() {
        let mut limit = RateLimit::receiving(100, 1_024, ms(10_000));
        assert_eq!(taken(&mut limit, ms(0)), 100 + 1_024 + 1_040);
        assert_eq!(taken(&mut limit, ms(1_000)), 104);
    }

    proptest! {
        /// Simulates a sender that obeys its limit. The delay of the link jumps by less than the timeout. The
        /// sender stores events that it may not send yet, for any length of time.
        #[test]
        fn an_honest_sender_never_exceeds_the_limit_of_the_receiver(
            per_second in 1_u32..2_000,
            steps in vec((0_u64..400, 0_u64..3_000, 0_u32..300, any::<bool>()), 1..200),
        ) {
            let timeout = ms(3_000);
            let mut sending = RateLimit::sending(per_second);
            let mut receiving = RateLimit::receiving(per_second, 500, timeout);
            let (mut now, mut stored) = (Duration::ZERO, 0);
            let mut link: VecDeque<(Duration, u32)> = VecDeque::new();
            let last = (5_000, 0, 0, true);
            for (wait, delay, wanted, is_open) in steps.into_iter().chain([last; 3]) {
                now += ms(wait);
                link.make_contiguous().sort_unstable();
                while let Some(&(_, count)) = link.front().filter(|(at, _)| *at <= now) {
                    link.pop_front();
                    (0..count).for_each(|_| assert!(receiving.take(now)));
                }
                stored += (0..wanted.min(500 - stored)).filter(|_| sending.take(now)).count() as u32;
                if is_open {
                    link.push_back((now + ms(delay), stored));
                    stored = 0;
                }
            }
        }
    }
}
