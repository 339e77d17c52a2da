//! Rate trials: a trial measures whether a lower send rate delivers as much as a higher one. If the lower
//! rate delivers as much, the link is full, and does not lose packets at random.
//!
//! If many packets are lost, a server sends for a while at a high rate and then for the same time at a low
//! rate. A link that loses packets at random delivers the same share at both rates. A full link delivers the
//! same amount at both rates, so the low rate is enough. The idea comes from PCC (Dong and others, *PCC:
//! Re-architecting Congestion Control for Consistent High Performance*, 2015): try a rate, and measure how
//! much arrives at this rate.
//!
//! *Invariant:* the result of a trial depends only on packets that were sent during the trial.

use std::ops::Range;
use std::time::Duration;

use crate::frame::sequence::Sequence;

/// The high rate of a trial is this many times its low rate.
const STEP: u64 = 4;
/// The high rate of a trial is at most this many times the current rate. The high rate is above the current
/// rate, so that a trial can also find out that the link can deliver more.
const RAISE: u64 = 2;
/// The number of packets sent at the high rate that must have arrived before a trial has a result. With 16
/// arrived packets, one result of 50 is wrong if nine of ten packets are lost.
const ARRIVED_PACKETS: u64 = 16;
/// The lowest rate of a trial, in bytes a second: one packet in 100 ms.
const LEAST_RATE: u64 = 12_000;
/// A trial has a result only if the two rates really differed: at the low rate, at most this many thousandths
/// of the bytes at the high rate were sent.
const GREATEST_SENT_SHARE: u64 = 800;
/// The shortest time for which a trial counts the packets of one rate.
const LEAST_TIME: Duration = Duration::from_millis(300);
/// After a change of the rate, a trial counts no packets for this time. During `DRAIN_TIME`, the queue of the
/// link still contains packets that were sent at the other rate.
const DRAIN_TIME: Duration = Duration::from_millis(100);
/// After a trial has shown that the link loses packets at random, no other trial begins for this time.
const PAUSE: Duration = Duration::from_secs(4);

/// One of the two rates of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    High,
    Low,
}

/// The stage of a rate trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// No trial of the send rate is running. While no trial is running, the current rate is used.
    Idle,
    /// The trial has sent at one of its rates since this time, but does not count the packets yet.
    Drain(Side, Duration),
    /// The trial sends at one of its rates, and has counted the packets since this time.
    Count(Side, Duration),
    /// The trial waits until all counted packets are acked or declared lost. While the trial waits, the
    /// current rate is used.
    Wait,
}

/// The counts of a trial at one of its rates: how many bytes were sent in `time`, and how many of these have
/// arrived.
#[derive(Clone, Debug, Default)]
struct RateSample {
    /// The packets that the trial counts. A trial can have several tries, and only the packets of the last
    /// try are counted.
    packets: Range<Sequence>,
    time: Duration,
    sent: u64,
    arrived: u64,
}

impl RateSample {
    fn rate(&self) -> u64 {
        let rate = (u128::from(self.sent) * 1_000_000_000).checked_div(self.time.as_nanos());
        u64::try_from(rate.unwrap_or(0)).unwrap_or(u64::MAX)
    }

    /// Compares two rates: `bytes` in the time of this sample, and `of` bytes in the argument `time`. Returns
    /// the first rate in thousandths of the second rate.
    fn thousandths(&self, bytes: u64, (of, time): (u64, Duration)) -> u64 {
        let part = u128::from(bytes) * time.as_nanos() * 1_000;
        let whole = u128::from(of) * self.time.as_nanos();
        part.checked_div(whole).map_or(u64::MAX, |share| u64::try_from(share).unwrap_or(u64::MAX))
    }
}

/// The trials of one connection, and the rate that is enough according to these trials.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    /// The lowest rate, in bytes a second, for which trials found that higher rates do not deliver more.
    /// `enough` is `None` if no trial has found such a rate.
    enough: Option<u64>,
    stage: Stage,
    /// The two rates of this trial, in bytes a second.
    high_rate: u64,
    low_rate: u64,
    high: RateSample,
    low: RateSample,
    /// The number of bytes of counted packets that are neither acked nor declared lost.
    unknown: u64,
    /// The time before which no trial begins.
    not_before: Duration,
}

impl Trial {
    pub(super) fn new() -> Self {
        Self {
            enough: None,
            stage: Stage::Idle,
            high_rate: 0,
            low_rate: 0,
            high: RateSample::default(),
            low: RateSample::default(),
            unknown: 0,
            not_before: Duration::ZERO,
        }
    }

    /// Returns the send rate in bytes a second. The rate is never above `greatest`, the greatest rate.
    pub(super) fn rate(&self, greatest: u64) -> u64 {
        let rate = match self.stage {
            Stage::Drain(Side::High, _) | Stage::Count(Side::High, _) => self.high_rate,
            Stage::Drain(Side::Low, _) | Stage::Count(Side::Low, _) => self.low_rate,
            Stage::Idle | Stage::Wait => self.enough.unwrap_or(greatest),
        };
        rate.min(greatest)
    }

    /// Moves the trial to its next stage if the current stage is over. If no trial is running, begins a trial
    /// if `is_wanted` is set. The argument `next` is the number of the next packet.
    pub(super) fn advance(&mut self, now: Duration, is_wanted: bool, link: LinkProperties, next: Sequence) {
        match self.stage {
            Stage::Idle if is_wanted && now >= self.not_before => self.begin(now, link),
            Stage::Drain(side, since) if now.saturating_sub(since) >= DRAIN_TIME => {
                self.sample(side).packets = next..Sequence::new(u64::MAX);
                self.stage = Stage::Count(side, now);
            }
            Stage::Count(side, since) if now.saturating_sub(since) >= link.round_trip.max(LEAST_TIME) => {
                let sample = self.sample(side);
                sample.packets.end = next;
                sample.time += now.saturating_sub(since);
                self.stage = match side {
                    Side::High => {
                        self.low_rate = (self.high.rate().min(self.high_rate) / STEP).max(LEAST_RATE);
                        Stage::Drain(Side::Low, now)
                    }
                    Side::Low => Stage::Wait,
                };
            }
            Stage::Wait if self.unknown == 0 => self.judge(now, link),
            _ => {}
        }
    }

    fn sample(&mut self, side: Side) -> &mut RateSample {
        match side {
            Side::High => &mut self.high,
            Side::Low => &mut self.low,
        }
    }

    fn begin(&mut self, now: Duration, link: LinkProperties) {
        let so_far = self.rate(link.greatest_rate);
        self.high_rate = so_far.saturating_mul(RAISE).min(link.greatest_rate);
        (self.high, self.low) = (RateSample::default(), RateSample::default());
        self.unknown = 0;
        self.stage = Stage::Drain(Side::High, now);
    }

    fn judge(&mut self, now: Duration, link: LinkProperties) {
        let RateSample { time, sent, arrived, .. } = self.high;
        let sent_share = self.low.thousandths(self.low.sent, (sent, time));
        if sent_share > GREATEST_SENT_SHARE {
            // Other limits kept the two rates nearly equal, so there is no result.
            self.pause(now);
        } else if arrived < ARRIVED_PACKETS * link.packet_bytes {
            self.stage = Stage::Drain(Side::High, now);
        } else {
            let arrived_share = self.low.thousandths(self.low.arrived, (arrived, time));
            // If the same amount arrived at both rates, `arrived_share` is 1,000. If the same share of the
            // packets arrived, `arrived_share` is equal to `sent_share`. The threshold is the mean of the
            // two.
            if arrived_share >= (1_000 + sent_share) / 2 {
                self.enough = Some(self.low_rate.max(self.low.rate()));
                self.stage = Stage::Idle;
            } else if self.high_rate < link.greatest_rate {
                self.enough = Some(self.high_rate);
                self.stage = Stage::Idle;
            } else {
                self.enough = None;
                self.pause(now);
            }
        }
    }

    fn pause(&mut self, now: Duration) {
        self.stage = Stage::Idle;
        self.not_before = now + PAUSE;
    }

    pub(super) fn is_running(&self) -> bool {
        self.stage != Stage::Idle
    }

    /// Returns whether the trial may keep the send rate below the greatest rate.
    pub(super) fn is_limit(&self) -> bool {
        self.enough.is_some() || self.is_running()
    }

    /// Ends the trial without a result, because the peer does not answer.
    pub(super) fn give_up(&mut self) {
        self.stage = Stage::Idle;
    }

    pub(super) fn sent(&mut self, bytes: u64) {
        if let Stage::Count(side, _) = self.stage {
            self.sample(side).sent += bytes;
            self.unknown += bytes;
        }
    }

    /// Records whether the packet `sequence` has arrived or counts as lost.
    pub(super) fn resolved(&mut self, sequence: Sequence, bytes: u64, has_arrived: bool) {
        let mut samples = [&mut self.high, &mut self.low].into_iter();
        if let Some(sample) = samples.find(|sample| sample.packets.contains(&sequence)) {
            sample.arrived += if has_arrived { bytes } else { 0 };
            self.unknown = self.unknown.saturating_sub(bytes);
        }
    }
}

/// The properties of a link that a trial needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkProperties {
    /// The size of the largest packet in bytes.
    pub packet_bytes: u64,
    /// The time from sending a packet to its ack.
    pub round_trip: Duration,
    /// The send rate that the connection would have without trials, in bytes a second.
    pub greatest_rate: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: u64 = 1_200;
    const TICK: Duration = Duration::from_millis(16);
    const LINK: LinkProperties = LinkProperties {
        packet_bytes: PACKET,
        round_trip: Duration::from_millis(40),
        greatest_rate: 480_000,
    };

    /// Runs trials for a minute on a simulated link and returns the rate that is enough according to the last
    /// trial. The argument `arrives` returns whether a packet arrives, given its number and its index in the
    /// tick.
    fn run(arrives: impl Fn(u64, u64) -> bool) -> u64 {
        let (mut trial, mut number, mut credit) = (Trial::new(), 0_u64, 0);
        for tick in 1..3_750 {
            let now = TICK * tick;
            trial.advance(now, true, LINK, Sequence::new(number));
            credit += trial.rate(LINK.greatest_rate) * 16 / 1_000;
            let mut place = 0;
            while credit >= PACKET {
                credit -= PACKET;
                trial.sent(PACKET);
                trial.resolved(Sequence::new(number), PACKET, arrives(number, place));
                (number, place) = (number + 1, place + 1);
            }
        }
        trial.enough.unwrap_or(LINK.greatest_rate)
    }

    #[test]
    fn a_link_that_takes_one_packet_a_tick_is_sent_little_more() {
        let rate = run(|_, place| place == 0);
        assert!((30_000..150_000).contains(&rate), "{rate} bytes a second of 75,000");
    }

    #[test]
    fn a_link_that_loses_nine_of_ten_at_random_keeps_the_greatest_rate() {
        let is_lucky = |number: u64| {
            let mixed = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32 & 1_023 < 102
        };
        let rate = run(|number, _| is_lucky(number));
        assert!(rate >= 240_000, "{rate} bytes a second");
    }

    #[test]
    fn packets_from_before_a_rate_counts_change_nothing() {
        let mut trial = Trial::new();
        trial.advance(TICK, true, LINK, Sequence::new(48));
        trial.sent(PACKET);
        trial.advance(TICK + DRAIN_TIME, true, LINK, Sequence::new(50));
        trial.sent(PACKET);
        trial.resolved(Sequence::new(49), PACKET, true);
        assert_eq!((trial.unknown, trial.high.arrived), (PACKET, 0));
        trial.resolved(Sequence::new(50), PACKET, true);
        assert_eq!((trial.unknown, trial.high.arrived), (0, PACKET));
    }

    /// A trial for which the test decides how many packets are sent and how many arrive at each rate.
    struct Script {
        trial: Trial,
        now: Duration,
        number: u64,
    }

    impl Script {
        fn new() -> Self {
            Self { trial: Trial::new(), now: TICK, number: 0 }
        }

        fn rate(&self) -> u64 {
            self.trial.rate(LINK.greatest_rate)
        }

        /// Advances the time by `time` in two steps, and checks that the trial does not move to its next
        /// stage before the second step.
        fn pass(&mut self, time: Duration, is_wanted: bool) {
            let (before, almost) = (self.trial.stage, time - Duration::from_nanos(1));
            for now in [self.now + almost, self.now + time] {
                assert_eq!(self.trial.stage, before, "it moves on at {now:?}");
                self.trial.advance(now, is_wanted, LINK, Sequence::new(self.number));
            }
            self.now += time;
        }

        fn send(&mut self, packets: u64) -> Range<u64> {
            (0..packets).for_each(|_| self.trial.sent(PACKET));
            self.number += packets;
            self.number - packets..self.number
        }

        /// Reports to the trial that the first `arrived` packets of `packets` have arrived and that the
        /// others are lost.
        fn resolve(&mut self, packets: Range<u64>, arrived: u64) {
            for (place, number) in (0..).zip(packets) {
                self.trial.resolved(Sequence::new(number), PACKET, place < arrived);
            }
        }

        fn begin(&mut self) {
            self.now += TICK;
            self.trial.advance(self.now, true, LINK, Sequence::new(self.number));
            assert!(self.trial.is_running() && self.trial.is_limit());
        }

        /// Runs a trial that has begun at both of its rates. The arguments `high` and `low` say how many
        /// packets are sent at each rate and how many of them arrive.
        fn both(&mut self, high: (u64, u64), low: (u64, u64)) {
            for (sent, arrived) in [high, low] {
                // The packets in `earlier` were sent at the previous rate.
                let earlier = self.send(5);
                self.pass(DRAIN_TIME, false);
                let counted = self.send(sent);
                self.pass(LEAST_TIME, false);
                let later = self.send(5);
                self.resolve(earlier, 5);
                self.resolve(later, 5);
                if arrived < sent {
                    self.resolve(counted.start..counted.end - 1, arrived);
                    if self.trial.stage == Stage::Wait {
                        let rate = self.rate();
                        self.trial.advance(self.now, true, LINK, Sequence::new(self.number));
                        assert_eq!((self.trial.stage, self.rate()), (Stage::Wait, rate), "one is not known");
                    }
                    self.resolve(counted.end - 1..counted.end, 0);
                } else {
                    self.resolve(counted, arrived);
                }
            }
            self.trial.advance(self.now, false, LINK, Sequence::new(self.number));
        }
    }

    #[test]
    fn the_low_rate_is_enough_if_as_much_arrives() {
        let mut script = Script::new();
        assert_eq!(script.rate(), LINK.greatest_rate);
        script.begin();
        assert_eq!(script.rate(), LINK.greatest_rate, "no rate is above the greatest");
        script.both((100, 25), (30, 25));
        // The result is a rate of 30 packets in 300 ms. The low rate of the trial is lower than this result:
        // a quarter of 100 packets in 300 ms.
        assert_eq!((script.rate(), script.trial.is_running()), (30 * PACKET * 10 / 3, false));
        assert!(script.trial.is_limit());
        // The next trial begins immediately, at twice the rate that is enough.
        script.begin();
        assert_eq!(script.rate(), 2 * 30 * PACKET * 10 / 3);
        script.both((40, 30), (5, 5));
        assert_eq!(script.rate(), 2 * 30 * PACKET * 10 / 3, "much less arrives at the low rate");
        assert!(script.trial.is_limit() && !script.trial.is_running());
        // The next trial tries the greatest rate.
        script.begin();
        script.both((80, 60), (5, 5));
        assert_eq!((script.rate(), script.trial.is_limit()), (LINK.greatest_rate, false));
    }

    #[test]
    fn a_trial_without_a_result_is_followed_by_a_pause() {
        // In the first case the same share arrives at both rates, and in the second case both rates were
        // nearly equal.
        for (high, low) in [((100, 40), (25, 10)), ((100, 40), (81, 40))] {
            let mut script = Script::new();
            script.begin();
            script.both(high, low);
            assert_eq!((script.rate(), script.trial.is_limit()), (LINK.greatest_rate, false));
            script.pass(PAUSE, true);
            assert!(script.trial.is_running());
        }
    }

    #[test]
    fn a_trial_is_repeated_until_enough_packets_of_the_high_rate_have_arrived() {
        let mut script = Script::new();
        script.begin();
        for _ in 0..3 {
            script.both((60, 5), (15, 5));
            assert!(script.trial.is_running(), "{} bytes have arrived", script.trial.high.arrived);
        }
        script.both((60, 5), (15, 5));
        assert_eq!((script.rate(), script.trial.is_running()), (15 * PACKET * 10 / 3, false));
    }

    #[test]
    fn a_trial_that_was_given_up_leaves_nothing_for_the_next_one() {
        let mut script = Script::new();
        script.begin();
        script.pass(DRAIN_TIME, false);
        script.send(50);
        script.trial.give_up();
        assert_eq!((script.rate(), script.trial.is_limit()), (LINK.greatest_rate, false));
        script.begin();
        script.both((100, 25), (30, 25));
        assert_eq!(script.rate(), 30 * PACKET * 10 / 3);
    }

    #[test]
    fn each_rate_lasts_a_round_trip_and_is_at_least_one_packet_in_100_ms() {
        let slow = LinkProperties { round_trip: Duration::from_secs(2), ..LINK };
        let mut trial = Trial::new();
        let mut stages = Vec::new();
        for tick in 1..400 {
            let before = trial.stage;
            trial.advance(TICK * tick, true, slow, Sequence::new(0));
            if trial.stage != before {
                stages.push((tick, trial.rate(u64::MAX)));
            }
        }
        // 100 ms take seven ticks, and 2 s take 125 ticks.
        let expected = [1, 8, 133, 140, 265].map(|tick| match tick {
            133 | 140 => (tick, LEAST_RATE),
            265 => (tick, u64::MAX),
            _ => (tick, LINK.greatest_rate),
        });
        assert_eq!(stages[..5], expected);
    }
}
