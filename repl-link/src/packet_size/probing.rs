//! Finds the largest packet size of a path that silently drops larger packets, as RFC 8899 describes. It
//! sends probes: packets that are padded to a size, and that the other side answers.
//!
//! The sender has doubts when nine packets were lost and no packet of their sizes has arrived, although
//! packets still come from the other side. Then it tests the size of its packets with rounds of probes (see
//! `size_test`). If twenty rounds bring answers to the small probes and no answer to a large probe, the path
//! does not carry the size. On a path that carries the size, this happens once in a million tests, at any
//! rate of loss. A binary search then finds a size that the path carries. Once in a minute the sender tests
//! whether the path carries the full size again.
//!
//! *Invariant:* packets become smaller only after the twenty rounds. The new size is the size of a packet or
//! probe that has arrived, or the least size.

use std::time::Duration;

use super::losses::LossesInRow;
use super::size_test::{Certainty, Probe, SizeTest, Verdict};

/// The number of rounds and probes after which the sender is sure that the path does not carry its packet
/// size.
const SURE: Certainty = Certainty { rounds: 20, small: 4, wait: Duration::from_millis(500) };

/// The same numbers for a step of the search for a smaller size, and for the test of a greater size. A
/// mistake costs only some bytes in each packet.
const LIKELY: Certainty = Certainty { rounds: 4, small: 1, wait: Duration::from_millis(100) };

/// The search ends when the largest size that the path carries and the smallest size that it does not carry
/// differ by at most this many bytes.
const RESOLUTION_BYTES: usize = 32;

/// A test is abandoned if no packet of this side was waiting for an ack during this time, because then this
/// side sends nothing.
const LONGEST_IDLE: Duration = Duration::from_millis(250);

/// After a test that changed nothing, doubts are ignored for this time.
const QUIET: Duration = Duration::from_secs(5);

/// The time between two tests whether the path carries the full size again.
const RAISE_INTERVAL: Duration = Duration::from_secs(60);

/// A result of the probes of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathFinding {
    /// The path carries packets of this many bytes. Larger packets were dropped, or the size has become
    /// larger again.
    Carries(usize),
    /// The path does not carry packets of the least size, so the connection cannot continue.
    TooNarrow,
}

/// The packet sizes that tests and searches use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// The greatest size of packets now.
    pub(crate) now: usize,
    /// The greatest size if the path carries it.
    pub(crate) full: usize,
    /// The least packet size with which the connection can continue.
    pub(crate) least: usize,
    /// Whether packets wait for their acks.
    pub(crate) are_used: bool,
}

/// The reason why a size is tested.
#[derive(Clone, Copy, Debug)]
enum Aim {
    /// There are doubts whether the path carries the current size. A packet of `low` bytes has arrived since
    /// the doubts began.
    Doubt { low: usize },
    /// A binary search for the size: the path does not carry `high` bytes, and a packet of `low` bytes has
    /// arrived. `low` is zero if no packet of the least size has arrived.
    Search { low: usize, high: usize },
    /// The path may carry more than before.
    Raise,
}

#[derive(Debug, Default)]
pub(crate) struct Probing {
    test: Option<(SizeTest, Aim)>,
    /// The number of the next probe.
    next: u16,
    /// Doubts before this time are ignored.
    quiet_until: Duration,
    /// When the full size is tested again. `None` if packets have the full size.
    raise_at: Option<Duration>,
    /// The time since when no packet has waited for an ack.
    idle_since: Option<Duration>,
}

impl Probing {
    pub(crate) fn is_testing(&self) -> bool {
        self.test.is_some()
    }

    /// Returns whether these data are no longer needed.
    pub(crate) fn is_over(&self, now: Duration) -> bool {
        self.test.is_none() && self.raise_at.is_none() && now >= self.quiet_until
    }

    /// Returns the probes that must be sent now. `session` identifies the session in the probes.
    pub(crate) fn due(&mut self, session: u64, round_trip: Duration, now: Duration) -> Vec<Probe> {
        let Some((test, _)) = &mut self.test else { return Vec::new() };
        let probes = test.due(session, round_trip, now);
        self.next = test.end();
        probes
    }

    pub(crate) fn answered(&mut self, number: u16, now: Duration) {
        self.test.iter_mut().for_each(|(test, _)| test.answered(number, now));
    }

    /// Records whether any packet waits for an ack. Ends the test if no packet has waited for
    /// [`LONGEST_IDLE`].
    fn rest(&mut self, are_used: bool, losses: &mut LossesInRow, now: Duration) {
        self.idle_since = if are_used { None } else { self.idle_since.or(Some(now)) };
        let is_idle = self.idle_since.is_some_and(|since| now.saturating_sub(since) >= LONGEST_IDLE);
        if is_idle && self.test.take().is_some() {
            losses.end_test();
        }
    }

    /// Begins and ends tests. Returns the finding if a test has ended with one.
    pub(crate) fn advance(
        &mut self,
        losses: &mut LossesInRow,
        sizes: Sizes,
        round_trip: Duration,
        now: Duration,
    ) -> Option<PathFinding> {
        self.rest(sizes.are_used, losses, now);
        let Some((test, aim)) = &self.test else {
            self.begin(losses, sizes, now);
            return None;
        };
        let verdict =
            if losses.has_carried() { Some(Verdict::Carried) } else { test.verdict(round_trip, now) };
        let (verdict, bytes, aim) = (verdict?, test.bytes, *aim);
        self.test = None;
        losses.end_test();
        match (aim, verdict) {
            (Aim::Doubt { .. }, Verdict::Blocked) if bytes <= sizes.least => Some(PathFinding::TooNarrow),
            (Aim::Doubt { low }, Verdict::Blocked) => {
                let low = if low >= sizes.least { low.min(bytes) } else { 0 };
                self.search(low, bytes, sizes, losses, now)
            }
            (Aim::Doubt { .. }, Verdict::Carried | Verdict::Unknown) => {
                self.quiet_until = now.saturating_add(QUIET);
                None
            }
            (Aim::Search { high, .. }, Verdict::Carried) => self.search(bytes, high, sizes, losses, now),
            (Aim::Search { low: 0, .. }, Verdict::Blocked) if bytes <= sizes.least => {
                Some(PathFinding::TooNarrow)
            }
            (Aim::Search { low, .. }, Verdict::Blocked | Verdict::Unknown) => {
                self.search(low, bytes, sizes, losses, now)
            }
            (Aim::Raise, Verdict::Carried) => {
                self.raise_at = None;
                Some(PathFinding::Carries(bytes))
            }
            (Aim::Raise, Verdict::Blocked | Verdict::Unknown) => {
                self.raise_at = Some(now.saturating_add(RAISE_INTERVAL));
                None
            }
        }
    }

    /// Begins a test, if there is a reason for one.
    fn begin(&mut self, losses: &mut LossesInRow, sizes: Sizes, now: Duration) {
        if losses.take_doubts() && now >= self.quiet_until {
            let low = losses.begin_test(sizes.now);
            self.test(sizes.now, SURE, Aim::Doubt { low }, now);
        } else if sizes.are_used && self.raise_at.is_some_and(|at| now >= at) {
            losses.begin_test(sizes.full);
            self.test(sizes.full, LIKELY, Aim::Raise, now);
        }
    }

    /// Continues the search between `low`, a size that has arrived (or zero), and `high`, a size that the
    /// path does not carry, or ends the search.
    fn search(
        &mut self,
        low: usize,
        high: usize,
        sizes: Sizes,
        losses: &mut LossesInRow,
        now: Duration,
    ) -> Option<PathFinding> {
        let least = low.max(sizes.least);
        if high.saturating_sub(least) > RESOLUTION_BYTES {
            let middle = least.midpoint(high);
            losses.begin_test(middle);
            self.test(middle, LIKELY, Aim::Search { low, high }, now);
            return None;
        }
        if low == 0 && high > sizes.least {
            losses.begin_test(sizes.least);
            self.test(sizes.least, SURE, Aim::Search { low, high }, now);
            return None;
        }
        self.raise_at = Some(now.saturating_add(RAISE_INTERVAL));
        Some(PathFinding::Carries(least))
    }

    fn test(&mut self, bytes: usize, certainty: Certainty, aim: Aim, now: Duration) {
        self.test = Some((SizeTest::new(bytes, certainty, self.next, now), aim));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Duration = Duration::from_millis(16);
    const SIZES: Sizes = Sizes { now: 1_200, full: 1_200, least: 508, are_used: true };

    /// Runs probes on a path without delays that carries `carried` bytes, until there is a result or the time
    /// is `end`. If `has_losses` is true, packets of the greatest size were lost in a row.
    fn run(
        probing: &mut Probing,
        has_losses: bool,
        sizes: Sizes,
        carried: usize,
        (start, end): (Duration, Duration),
    ) -> (Option<PathFinding>, Duration) {
        let (mut losses, mut now) = (LossesInRow::default(), start);
        if has_losses {
            (0..8).for_each(|_| losses.lost(sizes.now));
            losses.heard();
            losses.lost(sizes.now);
        }
        while now < end {
            let found = probing.advance(&mut losses, sizes, Duration::ZERO, now);
            if found.is_some() {
                return (found, now - start);
            }
            for probe in probing.due(7, Duration::ZERO, now) {
                if probe.bytes <= carried {
                    probing.answered(probe.number, now);
                }
            }
            now += TICK;
        }
        (None, now - start)
    }

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn the_size_that_a_path_carries_is_found_to_a_few_bytes() {
        for carried in [508, 509, 700, 1_000, 1_100, 1_199] {
            let (found, elapsed) =
                run(&mut Probing::default(), true, SIZES, carried, (Duration::ZERO, MINUTE));
            let Some(PathFinding::Carries(bytes)) = found else { panic!("{found:?}") };
            assert!(bytes <= carried && bytes + 33 > carried, "{bytes} of {carried}");
            assert!(elapsed < Duration::from_secs(5), "{elapsed:?}");
        }
    }

    #[test]
    fn a_path_that_does_not_carry_the_least_size_is_too_narrow() {
        for (now, least) in [(1_200, 508), (508, 508), (520, 508), (200, 200)] {
            let sizes = Sizes { now, full: now, least, are_used: true };
            let (found, _) = run(&mut Probing::default(), true, sizes, least - 1, (Duration::ZERO, MINUTE));
            assert_eq!(found, Some(PathFinding::TooNarrow), "{now}");
        }
    }

    #[test]
    fn doubts_without_a_narrow_path_change_nothing_and_then_wait() {
        let mut probing = Probing::default();
        let (found, _) = run(&mut probing, true, SIZES, 1_200, (Duration::ZERO, QUIET / 2));
        assert_eq!(found, None);
        assert!(probing.test.is_none());
        let (found, _) = run(&mut probing, true, SIZES, 1_000, (QUIET / 2, QUIET - TICK));
        assert!(found.is_none() && probing.test.is_none(), "too soon");
        let (found, _) = run(&mut probing, true, SIZES, 1_000, (QUIET * 2, MINUTE));
        assert!(found.is_some());
    }

    #[test]
    fn nothing_is_tested_while_nothing_is_sent() {
        let idle = Sizes { are_used: false, ..SIZES };
        let mut probing = Probing::default();
        let (found, _) = run(&mut probing, true, idle, 900, (Duration::ZERO, LONGEST_IDLE + TICK * 2));
        assert!(found.is_none() && probing.test.is_none(), "it is given up");
        let (_, start) = run(&mut probing, true, SIZES, 900, (Duration::ZERO, MINUTE));
        let (found, _) = run(&mut probing, false, idle, 1_200, (start, MINUTE * 5));
        assert!(found.is_none(), "the full size is tried when it is of use");
    }

    #[test]
    fn the_full_size_is_tried_once_in_a_minute() {
        let mut probing = Probing::default();
        let (found, start) = run(&mut probing, true, SIZES, 900, (Duration::ZERO, MINUTE));
        let Some(PathFinding::Carries(now)) = found else { panic!("{found:?}") };
        let sizes = Sizes { now, ..SIZES };
        let (found, _) = run(&mut probing, false, sizes, 900, (start, MINUTE + MINUTE / 2));
        assert_eq!(found, None);
        let (found, elapsed) = run(&mut probing, false, sizes, 1_200, (MINUTE + MINUTE / 2, MINUTE * 3));
        assert_eq!(found, Some(PathFinding::Carries(1_200)));
        assert!(elapsed > MINUTE / 2 && elapsed < MINUTE, "{elapsed:?}");
        assert!(probing.is_over(MINUTE * 4));
    }
}
