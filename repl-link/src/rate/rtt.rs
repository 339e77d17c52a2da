//! Round trips: measures how long an ack takes, and computes how long to wait for an ack (R9).
//!
//! *Invariant:* no timeout is shorter than the smoothed round trip, so a slow link never counts as dead.

use std::collections::VecDeque;
use std::time::Duration;

use repl_core::__private::preload;

use crate::frame::sequence::Sequence;
use crate::spare::shrink_sparse;

/// The timeout of a packet before the first round trip was measured.
const INITIAL_TIMEOUT: Duration = Duration::from_millis(250);
/// The least time by which a timeout is longer than the round trip. On a link without jitter the deviation
/// falls to zero, and an ack that waits for the peer's next tick would count as late without this margin. The
/// margin corresponds to the clock granularity of RFC 6298, section 2.3, and is a little more than a tick of
/// 60 Hz.
const LEAST_MARGIN: Duration = Duration::from_millis(20);
/// The greatest time by which a timeout is longer than the round trip.
const GREATEST_MARGIN: Duration = Duration::from_secs(1);
/// The longest timeout after two timeouts in a row, unless the round trip plus [`LEAST_MARGIN`] is longer
/// (R9).
const RETRY_TIMEOUT: Duration = Duration::from_millis(250);
/// A longer measured round trip counts as this time, because it means that the peer slept or that its clock
/// jumped. This time is twice the longest round trip of a usable link.
const GREATEST_SAMPLE: Duration = Duration::from_secs(60);

/// The estimate of a link's round trip according to RFC 6298, section 2: exponential means with gains of 1/8
/// and 1/4.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundTrip {
    /// The smoothed round trip and its mean deviation. `estimate` is `None` before the first measured round
    /// trip.
    estimate: Option<(Duration, Duration)>,
}

impl RoundTrip {
    /// Adds a measured round trip: the time from the sending of a packet to its ack.
    ///
    /// Every packet has its own number, so it is always clear to which packet an ack belongs. Call `sample`
    /// only for the newest packet of an ack, because an earlier ack of the older packets may have been lost.
    /// Call `sample` even if the acked packet already counts as lost. If `sample` were not called for packets
    /// that count as lost, a link that becomes slower than the timeout would never be measured again.
    pub fn sample(&mut self, elapsed: Duration) {
        let elapsed = elapsed.min(GREATEST_SAMPLE);
        self.estimate = Some(match self.estimate {
            None => (elapsed, elapsed / 2),
            Some((smoothed, deviation)) => {
                ((smoothed * 7 + elapsed) / 8, (deviation * 3 + smoothed.abs_diff(elapsed)) / 4)
            }
        });
    }

    /// Returns the smoothed round trip. It includes the time that an ack waits for the peer's tick. It is
    /// zero before the first measured round trip.
    pub fn smoothed(&self) -> Duration {
        self.estimate.map_or(Duration::ZERO, |(smoothed, _)| smoothed)
    }

    /// Returns the mean deviation of the measured round trips from the smoothed round trip. The deviation is
    /// zero before the first measured round trip.
    pub fn deviation(&self) -> Duration {
        self.estimate.map_or(Duration::ZERO, |(_, deviation)| deviation)
    }

    /// Returns how long to wait for an ack before the packet counts as lost: the smoothed round trip plus
    /// four times the deviation. The timeout is at least 20 ms and at most a second longer than the smoothed
    /// round trip. Before the first measured round trip, the timeout is 250 ms.
    pub fn timeout(&self) -> Duration {
        self.estimate.map_or(INITIAL_TIMEOUT, |(smoothed, deviation)| {
            smoothed + (deviation * 4).clamp(LEAST_MARGIN, GREATEST_MARGIN)
        })
    }

    /// Returns the timeout after `timeouts` timeouts in a row. From the second timeout on, the retry timeout
    /// is at most 250 ms, or 20 ms more than the smoothed round trip if this is longer. The retry timeout
    /// does not grow with further timeouts, because on a bad link only frequent tries get through.
    pub fn retry_timeout(&self, timeouts: u32) -> Duration {
        match timeouts {
            0 | 1 => self.timeout(),
            _ => self.timeout().min(RETRY_TIMEOUT.max(self.smoothed() + LEAST_MARGIN)),
        }
    }
}

/// The send times of packets that have not been acked, including packets that count as lost. If one of these
/// packets is acked, the round trip is measured from its send time.
///
/// The list contains at most a few packets of each tick. The longer acks take, the fewer packets are added to
/// the list in a second, so the oldest packets never need to be dropped. However long the round trip is, at
/// least one packet in 128 is still in the list when its ack arrives.
#[derive(Clone, Debug)]
pub(crate) struct SendTimes {
    /// The packets and their send times, in the order of sending.
    sent: VecDeque<(Sequence, Duration)>,
    /// The shortest time between a packet in the list and the second packet after it in the list.
    spacing: Duration,
}

impl Default for SendTimes {
    fn default() -> Self {
        Self { sent: VecDeque::new(), spacing: Self::LEAST_SPACING }
    }
}

impl SendTimes {
    /// When the list has this many packets, every second packet is dropped from it. At 60 ticks a second, 256
    /// packets cover four seconds. They take 6 KiB of memory.
    const LIMIT: usize = 256;
    /// The `spacing` at first, which is two ticks of 60 Hz.
    const LEAST_SPACING: Duration = Duration::from_millis(32);

    /// Records the send time of a packet that the peer must ack. The packet must be newer than all packets in
    /// the list. Of several packets that were sent at the same time, only the last is kept in the list.
    pub(crate) fn record(&mut self, sequence: Sequence, now: Duration) {
        let last_but_one = self.sent.len().checked_sub(2).and_then(|at| self.sent.get(at));
        if last_but_one.is_some_and(|(_, sent)| now.saturating_sub(*sent) < self.spacing) {
            self.sent.pop_back();
        } else if self.sent.len() >= Self::LIMIT {
            self.thin_out();
        }
        self.sent.push_back((sequence, now));
    }

    /// Drops every second packet of the list and doubles `spacing`.
    fn thin_out(&mut self) {
        let mut at = 0_usize;
        self.sent.retain(|_| {
            at += 1;
            at % 2 == 1
        });
        self.spacing = self.spacing.saturating_mul(2);
    }

    /// Loads into the processor cache the oldest send times, which the next ack reads.
    pub(crate) fn preload(&self) {
        self.sent.front().into_iter().for_each(preload);
    }

    /// Frees memory that was not needed recently.
    pub(crate) fn end_round(&mut self) {
        shrink_sparse(&mut self.sent);
    }

    /// Returns the time since the packet was sent, if the packet is in the list. The caller passes this time
    /// to [`RoundTrip::sample`]. Drops this packet and all packets before it from the list, because only the
    /// first ack of a packet shows how long its round trip took.
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
                // The packets that a peer acks, which are the last packets of each tick.
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
