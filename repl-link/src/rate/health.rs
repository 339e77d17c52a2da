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

    /// Returns whether the packet `sequence` counts as lost. `age` is the time since it was sent. `binding`
    /// is a number of the session, from which irregular times are computed.
    pub fn is_lost(&self, sequence: Sequence, age: Duration, binding: u64) -> bool {
        let smoothed = self.round_trip.smoothed();
        let timeout = self.round_trip.retry_timeout(self.timeouts);
        let jitter =
            (self.round_trip.deviation() * 2).max(LEAST_REORDER_WAIT).min(timeout).max(self.lateness);
        age >= timeout.max(smoothed + self.lateness) + self.pause(sequence, binding)
            || self.is_overtaken(sequence) && age >= smoothed + jitter
    }

    /// Returns how much longer the sender waits for the ack of a packet because the link is silent.
    fn pause(&self, sequence: Sequence, binding: u64) -> Duration {
        if !self.is_silent() || !jitter::is_one_of(PACKETS_PER_PAUSE, binding, sequence.number()) {
            return Duration::ZERO;
        }
        jitter::between(Duration::ZERO, LONGEST_PAUSE, !binding, sequence.number())
    }

    /// Returns the packets of `unknown` that count as lost, and whether any of them has timed out. `unknown`
    /// has the packets that may still arrive in ascending order, each with the time when it was sent.
    /// `binding` is a number of the session, from which irregular times are computed.
    pub fn overdue(
        &self,
        unknown: impl Iterator<Item = (Sequence, Duration)>,
        binding: u64,
        now: Duration,
    ) -> (Vec<Sequence>, bool) {
        let is_lost = |&(sequence, sent_at): &(Sequence, Duration)| {
            self.is_lost(sequence, now.saturating_sub(sent_at), binding)
        };
        let overdue: Vec<Sequence> = unknown.take_while(is_lost).map(|(sequence, _)| sequence).collect();
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
            link.is_lost(overtaken, ms(111), 0)
                && !link.is_lost(newer, ms(111), 0)
                && link.is_lost(newer, ms(121), 0)
        );
        link.acked_late(ms(180));
        assert!(!link.is_lost(overtaken, ms(179), 0) && link.is_lost(overtaken, ms(180), 0));
        assert!(!link.is_lost(newer, ms(179), 0) && link.is_lost(newer, ms(180), 0));
        // At 60 acks a second, these acks correspond to 20 s without a late ack.
        (0..1_200).for_each(|number| link.acked(Sequence::new(200 + number), Some(ms(100))));
        assert!(link.is_lost(overtaken, ms(111), 0) && link.is_lost(Sequence::new(2_000), ms(121), 0));
    }

    #[test]
    fn r09_late_acks_delay_repeats_by_half_a_second_at_most() {
        let mut link = link();
        link.acked_late(ms(60_000));
        assert!(
            !link.is_lost(Sequence::new(150), ms(599), 0) && link.is_lost(Sequence::new(150), ms(600), 0)
        );
    }
}
