//! The health of a link: how long its packets take, how many are lost, and whether it answers at all.
//!
//! *Invariant:* each timeout since the last ack makes the next wait longer (R9).

use std::time::Duration;

use crate::transport::rtt::RoundTrip;
use crate::transport::sequence::Sequence;

/// The least time to wait for a packet after a later one was acked. Packets of neighbouring ticks are often
/// reordered.
const LEAST_REORDER_WAIT: Duration = Duration::from_millis(10);

/// How often a link that does not answer is retried (R9).
pub(super) const RETRY_INTERVAL: Duration = Duration::from_millis(250);

/// A link with fewer timeouts in a row than this is not retried before the next one.
const TIMEOUTS_BEFORE_RETRY: u32 = 2;

/// What a connection knows of its link.
#[derive(Debug, Default)]
pub(crate) struct LinkHealth {
    pub(crate) round_trip: RoundTrip,
    /// Timeouts since the last ack (R9).
    pub(super) timeouts: u32,
    /// When unanswered packets were last retried before their timeout (R9).
    last_retry: Duration,
    /// The newest packet that the client acked.
    pub(super) newest_acked: Option<Sequence>,
    /// When a packet was last sent.
    pub(super) last_sent: Duration,
    /// Packets that counted as lost so far.
    pub(crate) packets_lost: u64,
    /// Since when the client left so much unacknowledged that the memory exceeds its limit.
    over_memory_since: Option<Duration>,
}

impl LinkHealth {
    pub(super) fn new(now: Duration) -> Self {
        Self { last_retry: now, last_sent: now, ..Self::default() }
    }

    /// Notes the newest packet of an ack, and how long ago it was sent, if that is known.
    pub(super) fn acked(&mut self, newest: Sequence, elapsed: Option<Duration>) {
        elapsed.into_iter().for_each(|elapsed| self.round_trip.sample(elapsed));
        self.newest_acked = self.newest_acked.max(Some(newest));
    }

    /// Whether a packet after `sequence` was acked.
    pub(super) fn is_overtaken(&self, sequence: Sequence) -> bool {
        self.newest_acked.is_some_and(|newest| newest > sequence)
    }

    /// Whether a packet that was sent this long ago counts as lost.
    pub(super) fn is_lost(&self, sequence: Sequence, age: Duration) -> bool {
        let timeout = self.round_trip.retry_timeout(self.timeouts);
        let jitter = (self.round_trip.deviation() * 2).max(LEAST_REORDER_WAIT).min(timeout);
        age >= timeout || self.is_overtaken(sequence) && age >= self.round_trip.smoothed() + jitter
    }

    /// Whether the link has not answered for so long that it must be retried now and then.
    pub(super) fn is_silent(&self) -> bool {
        self.timeouts >= TIMEOUTS_BEFORE_RETRY
    }

    /// Whether a silent link must be retried now. Notes that it is.
    pub(super) fn begin_retry(&mut self, now: Duration) -> bool {
        let is_due = self.is_silent() && now.saturating_sub(self.last_retry) >= RETRY_INTERVAL;
        if is_due {
            self.last_retry = now;
        }
        is_due
    }

    /// Whether the memory has exceeded its limit for a `timeout`.
    pub(super) fn is_over_memory_for(&self, timeout: Duration, now: Duration) -> bool {
        self.over_memory_since.is_some_and(|since| now.saturating_sub(since) >= timeout)
    }

    /// Notes whether the memory exceeds its limit.
    pub(super) fn watch_memory(&mut self, is_over: bool, now: Duration) {
        self.over_memory_since = is_over.then(|| self.over_memory_since.unwrap_or(now));
    }
}
