//! The health of a link: how long its packets take, how many of them are lost, and whether the peer answers
//! at all.
//!
//! *Invariant:* timeouts never make the wait for an ack longer. After two timeouts in a row, the wait is at
//! most 250 ms, or the round trip plus 20 ms if that is longer. In addition, the sender waits for the
//! lateness of recent late acks, and for some packets up to 100 ms more (R9).

use std::time::Duration;

use crate::frame::sequence::Sequence;
use crate::rate::jitter;
use crate::rate::rtt::RoundTrip;
use crate::sent::in_flight::Unacked;

/// The shortest time that the sender waits for the ack of a packet after a later packet was acked. Packets of
/// neighbouring ticks often overtake each other.
const LEAST_REORDER_WAIT: Duration = Duration::from_millis(10);

/// The longest time that late acks can add to the wait for a packet. Without a limit, a peer could delay all
/// data that must be sent again.
const GREATEST_LATENESS: Duration = Duration::from_millis(500);

/// After about this many acks, the extra wait for late acks has shrunk to a third. This takes 8 s at 60 acks
/// a second.
const LATENESS_ACKS: u32 = 512;

/// The mean time between two tries to reach a link that does not answer. No such time is longer than 250 ms
/// (R9).
const RETRY_INTERVAL: Duration = Duration::from_millis(165);

/// Only after this many timeouts in a row, the sender tries the link again before its next timeout.
const TIMEOUTS_BEFORE_RETRY: u32 = 2;

/// On a link that does not answer, the sender waits longer for the ack of one in this many packets, by at
/// most this time. So packets are sent again at irregular times. If the link loses packets at regular times,
/// packets that are sent at regular times could all be lost.
const PACKETS_PER_PAUSE: u64 = 3;
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// If this many tries of the same content were lost, the sender waits longer for the ack of the next try, by
/// up to two round trips. A link that answers can lose all tries, too, if acks take as long as the period of
/// its losses: then each loss is noticed at the same time of a period. A round trip is at least half of the
/// time between two such tries. If 30 % of all packets are lost at random, the sender waits longer for one
/// packet in 1,400. If most packets are lost, the number is greater, because such waits would delay too much.
const TRIES_BEFORE_PAUSE: u8 = 6;
const TRIES_BEFORE_PAUSE_IF_MOST_ARE_LOST: u8 = 32;

/// What decides how irregular the times are at which a connection sends again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Irregularity {
    /// A number of the session, from which irregular times are computed.
    pub(crate) binding: u64,
    /// Whether most packets are lost.
    pub(crate) loses_most: bool,
}

/// The measurements of one connection's link: its round trips, timeouts and losses.
#[derive(Debug, Default)]
pub struct LinkHealth {
    /// How long packets and their acks take.
    pub round_trip: RoundTrip,
    /// The number of timeouts since the last ack.
    pub timeouts: u32,
    /// The time when unanswered packets were last sent again before their timeout (R9).
    last_retry: Duration,
    /// The newest packet that the other side has acked.
    pub newest_acked: Option<Sequence>,
    /// The time by which late acks took longer than the smoothed round trip. A late ack is the ack of a
    /// packet that already counted as lost. This time shrinks while no late acks arrive.
    lateness: Duration,
    /// The time when the last packet was sent.
    pub last_sent: Duration,
    /// The number of packets that have counted as lost so far.
    pub packets_lost: u64,
    /// The time when the memory for unacknowledged data began to exceed its limit. `over_memory_since` is
    /// `None` if the memory is within its limit.
    over_memory_since: Option<Duration>,
}

impl LinkHealth {
    pub(crate) fn new(now: Duration) -> Self {
        Self { last_retry: now, last_sent: now, ..Self::default() }
    }

    /// Records the newest packet of an ack, and the time since this packet was sent, if this time is known.
    pub fn acked(&mut self, newest: Sequence, elapsed: Option<Duration>) {
        elapsed.into_iter().for_each(|elapsed| self.round_trip.sample(elapsed));
        self.newest_acked = self.newest_acked.max(Some(newest));
        self.lateness -= self.lateness / LATENESS_ACKS;
    }

    /// Returns whether a packet after `sequence` was acked.
    pub fn is_overtaken(&self, sequence: Sequence) -> bool {
        self.newest_acked.is_some_and(|newest| newest > sequence)
    }

    /// Records that a packet was acked this long after it was sent, although it already counted as lost. From
    /// now on packets count as lost later, as in RACK (RFC 8985, section 6.2, step 4).
    pub fn acked_late(&mut self, elapsed: Duration) {
        let lateness = elapsed.saturating_sub(self.round_trip.smoothed()).min(GREATEST_LATENESS);
        self.lateness = self.lateness.max(lateness);
    }

    /// Returns whether a packet counts as lost.
    fn is_lost(&self, packet: Unacked, irregularity: Irregularity, now: Duration) -> bool {
        let age = now.saturating_sub(packet.sent_at);
        let smoothed = self.round_trip.smoothed();
        let timeout = self.round_trip.retry_timeout(self.timeouts);
        let jitter =
            (self.round_trip.deviation() * 2).max(LEAST_REORDER_WAIT).min(timeout).max(self.lateness);
        let repeated = self.pause_of_repeated(packet, irregularity);
        let pause = repeated.max(self.pause(packet.sequence, irregularity.binding));
        age >= timeout.max(smoothed + self.lateness) + pause
            || self.is_overtaken(packet.sequence) && age >= smoothed + jitter + repeated
    }

    /// Returns how much longer the sender waits for the ack of a packet because the link is silent.
    fn pause(&self, sequence: Sequence, binding: u64) -> Duration {
        if !self.is_silent() || !jitter::is_one_of(PACKETS_PER_PAUSE, binding, sequence.number()) {
            return Duration::ZERO;
        }
        jitter::between(Duration::ZERO, LONGEST_PAUSE, !binding, sequence.number())
    }

    /// Returns how much longer the sender waits for the ack of a packet because its content was lost too
    /// often.
    fn pause_of_repeated(&self, packet: Unacked, irregularity: Irregularity) -> Duration {
        let tries = match irregularity.loses_most {
            true => TRIES_BEFORE_PAUSE_IF_MOST_ARE_LOST,
            false => TRIES_BEFORE_PAUSE,
        };
        if packet.lost_tries < tries {
            return Duration::ZERO;
        }
        let longest = (self.round_trip.smoothed() + LEAST_REORDER_WAIT) * 2;
        jitter::between(Duration::ZERO, longest, !irregularity.binding, packet.sequence.number())
    }

    /// Returns the packets of `unacked` that count as lost, and whether any of them has timed out. `unacked`
    /// has the packets that may still arrive, in ascending order.
    pub(crate) fn overdue(
        &self,
        unacked: impl Iterator<Item = Unacked>,
        irregularity: Irregularity,
        now: Duration,
    ) -> (Vec<Sequence>, bool) {
        let lost = unacked.take_while(|packet| self.is_lost(*packet, irregularity, now));
        let overdue: Vec<Sequence> = lost.map(|packet| packet.sequence).collect();
        let has_timed_out = overdue.iter().any(|sequence| !self.is_overtaken(*sequence));
        (overdue, has_timed_out)
    }

    /// Returns whether the link has been silent for so long that packets must be sent from time to time to
    /// probe it.
    pub fn is_silent(&self) -> bool {
        self.timeouts >= TIMEOUTS_BEFORE_RETRY
    }

    /// If it is time to try a silent link again, begins this try and returns a time: the content of packets
    /// that were sent by this time is sent again. `binding` is a number of the session, from which irregular
    /// times are computed. The times between two tries are irregular, because the link may lose packets at
    /// regular times.
    pub fn begin_retry(&mut self, binding: u64, now: Duration) -> Option<Duration> {
        if !self.is_silent() {
            return None;
        }
        let interval = jitter::around(RETRY_INTERVAL, binding, self.last_retry.as_nanos() as u64);
        let is_due = now.saturating_sub(self.last_retry) >= interval;
        is_due.then(|| {
            self.last_retry = now;
            now.saturating_sub(interval)
        })
    }

    /// Returns whether the link answers, and the memory for unacknowledged data is within its limit.
    pub fn is_at_rest(&self) -> bool {
        self.timeouts == 0 && self.over_memory_since.is_none()
    }

    /// Returns whether the memory for unacknowledged data has exceeded its limit for a whole `timeout`.
    pub fn is_over_memory_for(&self, timeout: Duration, now: Duration) -> bool {
        self.over_memory_since.is_some_and(|since| now.saturating_sub(since) >= timeout)
    }

    /// Records whether the memory for unacknowledged data exceeds its limit now.
    pub fn watch_memory(&mut self, is_over: bool, now: Duration) {
        self.over_memory_since = is_over.then(|| self.over_memory_since.unwrap_or(now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    /// Returns whether the packet `sequence`, which was sent at the time zero, counts as lost.
    fn is_try_lost(link: &LinkHealth, sequence: Sequence, lost_tries: u8, now: Duration) -> bool {
        let packet = Unacked { sequence, sent_at: Duration::ZERO, lost_tries };
        link.is_lost(packet, Irregularity { binding: 0, loses_most: false }, now)
    }

    /// Does the same for a packet whose content was not lost before.
    fn is_lost(link: &LinkHealth, sequence: Sequence, now: Duration) -> bool {
        is_try_lost(link, sequence, 0, now)
    }

    /// Returns a link with a round trip of 100 ms.
    fn link() -> LinkHealth {
        let mut link = LinkHealth::new(Duration::ZERO);
        (0..200).for_each(|number| link.acked(Sequence::new(number), Some(ms(100))));
        link
    }

    #[test]
    fn r09_late_acks_make_packets_count_as_lost_later_for_a_while() {
        let (overtaken, newer) = (Sequence::new(150), Sequence::new(300));
        let mut link = link();
        assert!(
            is_lost(&link, overtaken, ms(111))
                && !is_lost(&link, newer, ms(111))
                && is_lost(&link, newer, ms(121))
        );
        link.acked_late(ms(180));
        assert!(!is_lost(&link, overtaken, ms(179)) && is_lost(&link, overtaken, ms(180)));
        assert!(!is_lost(&link, newer, ms(179)) && is_lost(&link, newer, ms(180)));
        // At 60 acks a second, these acks correspond to 20 s without a late ack.
        (0..1_200).for_each(|number| link.acked(Sequence::new(200 + number), Some(ms(100))));
        assert!(is_lost(&link, overtaken, ms(111)) && is_lost(&link, Sequence::new(2_000), ms(121)));
    }

    #[test]
    fn r09_late_acks_delay_repeats_by_half_a_second_at_most() {
        let mut link = link();
        link.acked_late(ms(60_000));
        assert!(!is_lost(&link, Sequence::new(150), ms(599)) && is_lost(&link, Sequence::new(150), ms(600)));
    }

    #[test]
    fn r09_content_that_was_lost_often_is_sent_again_at_irregular_times() {
        let link = &link();
        let waits = |lost_tries| {
            (0..180).map(move |number| {
                let is_lost = |age: &u64| is_try_lost(link, Sequence::new(number), lost_tries, ms(*age));
                (0..1_000).find(is_lost).expect("a wait")
            })
        };
        (0..6).for_each(|tries| assert!(waits(tries).all(|wait| wait == 110), "{tries} tries"));
        for tries in [6, 7, 255] {
            let waits: Vec<u64> = waits(tries).collect();
            assert!(waits.iter().all(|wait| (110..331).contains(wait)));
            let late = waits.iter().filter(|wait| **wait > 220).count();
            assert!((70..110).contains(&late), "{late} of 180 wait longer than a round trip");
        }
    }
}
