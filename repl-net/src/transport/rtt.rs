//! Round trips: how long they take, and how long to wait for an ack (R9).
//!
//! Invariant: no wait is shorter than the smoothed round trip, so a link that is slow but whole never looks dead.

use super::sequence::Sequence;
use super::spare::give_back_room;
use std::collections::VecDeque;
use std::time::Duration;

/// The wait before anything is known of the link.
const INITIAL_TIMEOUT: Duration = Duration::from_millis(250);
/// The least that a wait goes beyond the round trip, so that on an even link, whose variance falls to nothing, an ack that waited for its
/// peer's next tick is not late. It is the clock granularity of RFC 6298, section 2.3, here a tick of 60 Hz and a little.
const LEAST_MARGIN: Duration = Duration::from_millis(20);
/// The most that a wait goes beyond the round trip.
const GREATEST_MARGIN: Duration = Duration::from_secs(1);
/// How long a wait may be when two in a row were in vain (R9).
const RETRY_TIMEOUT: Duration = Duration::from_millis(250);
/// A longer sample counts as this much: the peer slept, or its clock jumped. Twice the longest round trip that a link should have.
const GREATEST_SAMPLE: Duration = Duration::from_secs(60);

/// The estimate of a link's round trip by RFC 6298, section 2: exponential means with gains of 1/8 and 1/4.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RoundTrip {
    /// The smoothed round trip and its mean deviation, once there was a sample.
    estimate: Option<(Duration, Duration)>,
}

impl RoundTrip {
    /// Takes in the time from sending a packet to its ack.
    ///
    /// Every packet has a number of its own, so each ack tells of one packet and there is no doubt about what was measured. Offer the
    /// newest packet of an ack only, since older ones may have been acked before by a packet that was lost; and also one that was already
    /// given up: were those ignored, then a link that becomes slower than the wait would never be measured again.
    pub(crate) fn sample(&mut self, elapsed: Duration) {
        let elapsed = elapsed.min(GREATEST_SAMPLE);
        self.estimate = Some(match self.estimate {
            None => (elapsed, elapsed / 2),
            Some((smoothed, deviation)) => {
                ((smoothed * 7 + elapsed) / 8, (deviation * 3 + smoothed.abs_diff(elapsed)) / 4)
            }
        });
    }

    /// The smoothed round trip, with the time an ack waits for its peer's tick; zero before the first sample.
    pub(crate) fn smoothed(&self) -> Duration {
        self.estimate.map_or(Duration::ZERO, |(smoothed, _)| smoothed)
    }

    /// The mean deviation of the samples from the smoothed round trip; zero before the first.
    pub(crate) fn deviation(&self) -> Duration {
        self.estimate.map_or(Duration::ZERO, |(_, deviation)| deviation)
    }

    /// How long to wait for a packet's ack before holding it for lost: the smoothed round trip and four times the deviation, but at
    /// least 20 ms and at most a second beyond the round trip; 250 ms before the first sample.
    pub(crate) fn timeout(&self) -> Duration {
        self.estimate.map_or(INITIAL_TIMEOUT, |(smoothed, deviation)| {
            smoothed + (deviation * 4).clamp(LEAST_MARGIN, GREATEST_MARGIN)
        })
    }

    /// The wait after `timeouts` waits in a row that brought no ack. From the second on it is at most 250 ms, or 20 ms beyond the round
    /// trip if that is longer, and never grows: what gets through a bad link is what is tried often (R9).
    pub(crate) fn retry_timeout(&self, timeouts: u32) -> Duration {
        match timeouts {
            0 | 1 => self.timeout(),
            _ => self.timeout().min(RETRY_TIMEOUT.max(self.smoothed() + LEAST_MARGIN)),
        }
    }
}

/// When packets were sent whose acks have not come, whether they were given up or not: each ack of one of them is a sample.
///
/// It keeps one packet of a tick at most, and fewer of each second the longer acks take to come, so that it never forgets the time before
/// which no ack has come: however long the round trip, one packet in 128 of it is still known when its ack comes.
#[derive(Clone, Debug)]
pub(crate) struct SendTimes {
    /// In the order of sending.
    sent: VecDeque<(Sequence, Duration)>,
    /// Any three packets span at least this.
    spacing: Duration,
}

impl Default for SendTimes {
    fn default() -> Self {
        Self { sent: VecDeque::new(), spacing: Self::LEAST_SPACING }
    }
}

impl SendTimes {
    /// At 60 ticks a second four seconds, before packets are kept less often; 6 KiB.
    const LIMIT: usize = 256;
    /// Two ticks of 60 Hz.
    const LEAST_SPACING: Duration = Duration::from_millis(32);

    /// Remembers that the packet, which asks for an ack, was sent after all others recorded. Of packets sent together the last is kept.
    pub(crate) fn record(&mut self, sequence: Sequence, now: Duration) {
        let last_but_one = self.sent.len().checked_sub(2).and_then(|at| self.sent.get(at));
        if last_but_one.is_some_and(|(_, sent)| now.saturating_sub(*sent) < self.spacing) {
            self.sent.pop_back();
        } else if self.sent.len() >= Self::LIMIT {
            self.thin_out();
        }
        self.sent.push_back((sequence, now));
    }

    /// Forgets every second packet, and from here on keeps half as many of the same time.
    fn thin_out(&mut self) {
        let mut at = 0_usize;
        self.sent.retain(|_| {
            at += 1;
            at % 2 == 1
        });
        self.spacing = self.spacing.saturating_mul(2);
    }

    /// Gives back memory that was not needed of late.
    pub(crate) fn end_round(&mut self) {
        give_back_room(&mut self.sent);
    }

    /// The time since the packet was sent, for [`RoundTrip::sample`], if it is one of those remembered. It and the packets before it are
    /// then forgotten, for only the first ack of a packet tells how long it took.
    pub(crate) fn take(&mut self, sequence: Sequence, now: Duration) -> Option<Duration> {
        let at = self.sent.binary_search_by_key(&sequence, |(of, _)| *of).ok()?;
        let (_, sent) = self.sent.drain(..=at).next_back()?;
        if self.sent.len() < Self::LIMIT / 4 {
            self.spacing = (self.spacing / 2).max(Self::LEAST_SPACING);
        }
        now.checked_sub(sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    fn even_link(round_trip: Duration) -> RoundTrip {
        let mut estimate = RoundTrip::default();
        (0..200).for_each(|_| estimate.sample(round_trip));
        estimate
    }

    #[test]
    fn r09_the_timeout_follows_rfc_6298() {
        let mut link = RoundTrip::default();
        assert_eq!(link.timeout(), ms(250));
        link.sample(ms(80));
        assert_eq!((link.smoothed(), link.deviation()), (ms(80), ms(40)));
        assert_eq!(link.timeout(), ms(240));
        link.sample(ms(160));
        assert_eq!((link.smoothed(), link.deviation()), (ms(90), ms(50)));
        assert_eq!(link.timeout(), ms(290));
    }

    #[test]
    fn r09_an_even_link_still_leaves_a_tick_of_grace() {
        let link = even_link(ms(50));
        assert_eq!(link.smoothed(), ms(50));
        assert_eq!(link.timeout(), ms(70));
    }

    #[test]
    fn r09_the_third_try_waits_a_quarter_second_at_most_and_never_longer() {
        let mut link = even_link(ms(100));
        for wild in [ms(900), ms(20), ms(700), ms(10)] {
            link.sample(wild);
        }
        assert!(link.timeout() > ms(500));
        assert_eq!(link.retry_timeout(1), link.timeout());
        assert!(link.smoothed() < ms(230));
        for timeouts in 2..50 {
            assert_eq!(link.retry_timeout(timeouts), ms(250));
        }
        assert_eq!(even_link(ms(30)).retry_timeout(9), ms(50));
    }

    #[test]
    fn r09_a_slow_link_is_waited_for() {
        let link = even_link(ms(1_500));
        assert_eq!(link.timeout(), ms(1_520));
        assert_eq!(link.retry_timeout(5), ms(1_520));
    }

    #[test]
    fn a_peer_that_slept_an_hour_counts_for_a_minute() {
        let mut link = RoundTrip::default();
        link.sample(Duration::MAX);
        assert_eq!(link.smoothed(), ms(60_000));
        assert_eq!(link.timeout(), ms(61_000));
    }

    #[test]
    fn a_packet_is_timed_once_and_also_when_given_up() {
        let mut times = SendTimes::default();
        for (number, sent) in [(3, ms(100)), (4, ms(120)), (5, ms(140))] {
            times.record(Sequence::new(number), sent);
        }
        assert_eq!(times.take(Sequence::new(4), ms(920)), Some(ms(800)));
        assert_eq!(times.take(Sequence::new(4), ms(950)), None);
        assert_eq!(times.take(Sequence::new(3), ms(950)), None, "its ack was on its way before");
        assert_eq!(times.take(Sequence::new(6), ms(950)), None, "never sent");
        assert_eq!(times.take(Sequence::new(5), ms(139)), None, "the clock went back");
    }

    #[test]
    fn r09_a_busy_link_is_timed_whatever_its_round_trip() {
        for (packets_per_tick, tick) in [(1, ms(17)), (40, ms(17)), (1, ms(1)), (2, ms(3))] {
            for round_trip in [ms(4_000), ms(4_300), ms(30_000), ms(100_000)] {
                let mut times = SendTimes::default();
                let (mut now, mut number) = (Duration::ZERO, 0);
                // The last packet of each tick, as a peer acks them.
                let mut under_way = VecDeque::new();
                let (mut samples, mut most) = (0, 0);
                while now < round_trip * 3 {
                    while let Some(&(acked, sent)) = under_way.front()
                        && sent + round_trip <= now
                    {
                        under_way.pop_front();
                        if let Some(sample) = times.take(acked, now) {
                            assert_eq!(sample, now - sent);
                            samples += 1;
                        }
                    }
                    for _ in 0..packets_per_tick {
                        times.record(Sequence::new(number), now);
                        number += 1;
                    }
                    most = most.max(times.sent.len());
                    under_way.push_back((Sequence::new(number - 1), now));
                    now += tick;
                }
                assert!(most <= SendTimes::LIMIT);
                assert!(
                    samples >= 2 * SendTimes::LIMIT / 4,
                    "{samples} samples of {round_trip:?} at {tick:?}"
                );
            }
        }
    }

    proptest! {
        #[test]
        fn r09_no_wait_is_shorter_than_the_round_trip_or_unbounded(
            samples in prop::collection::vec(0_u64..120_000, 0..100), timeouts in any::<u32>()
        ) {
            let mut link = RoundTrip::default();
            samples.iter().for_each(|&sample| link.sample(ms(sample)));
            for wait in [link.timeout(), link.retry_timeout(timeouts)] {
                prop_assert!(wait >= link.smoothed() + LEAST_MARGIN);
                prop_assert!(wait <= link.smoothed() + GREATEST_MARGIN);
            }
        }
    }
}
