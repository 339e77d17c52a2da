//! A test whether a path carries packets of a size. Pairs of probes are sent, each a small one and one of the
//! size, together and in an order that is drawn.
//!
//! A pair counts if the small probe is answered. The path counts as too narrow if of so many pairs in a row no
//! large probe is answered. Losses that do not depend on the size meet both probes of a pair alike. So if the
//! path carries the size, each pair that counts is answered for the large probe first, or for both, with a
//! probability of at least one half, however high the loss is.
//!
//! *Invariant:* the answer of one large probe is enough for the verdict that the path carries the size.

use std::time::Duration;

use super::probing::Probe;
use crate::rate::jitter;

/// The mean time between two pairs, and the most pairs whose small probes are not answered yet.
const INTERVAL: Duration = Duration::from_millis(50);
const MOST_WAITING: u32 = 4;

/// A pair counts as lost after this time and two round trips.
const LEAST_WAIT: Duration = Duration::from_millis(200);

/// A test ends without a verdict after this time.
const LONGEST: Duration = Duration::from_secs(15);

/// The result of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The path carries the size.
    Carried,
    /// The path carries small packets, but none of this size.
    Blocked,
    /// So much is lost that nothing can be said.
    Unknown,
}

/// How sure a test is before it says that a size is blocked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Certainty {
    /// The number of pairs in a row of which only the small probe was answered. If the path carries the size,
    /// the test is wrong in one of two to the power of this number of cases at most.
    pub(super) pairs: u32,
    /// How long the last large probes have time to be answered, in addition to a round trip.
    pub(super) wait: Duration,
}

/// A test of one size.
#[derive(Debug)]
pub(super) struct PairTest {
    /// The size in bytes.
    pub(super) bytes: usize,
    certainty: Certainty,
    began: Duration,
    /// The number of the first probe. The small probe of a pair has an even distance to it, and the large
    /// probe has the next number.
    first: u16,
    /// How many pairs were sent.
    sent: u16,
    /// When the next pair is sent, if not too many wait.
    next: Duration,
    /// The numbers of the small probes that wait for their answers, and when they were sent.
    waiting: Vec<(u16, Duration)>,
    /// How many small probes were answered in time, and when the last of them was.
    answered: u32,
    last_answer: Duration,
    has_carried: bool,
}

impl PairTest {
    /// Returns a test of a size. Its first probe has the number `first`.
    pub(super) fn new(bytes: usize, certainty: Certainty, first: u16, now: Duration) -> Self {
        Self {
            bytes,
            certainty,
            began: now,
            first,
            sent: 0,
            next: now,
            waiting: Vec::new(),
            answered: 0,
            last_answer: now,
            has_carried: false,
        }
    }

    /// Returns the number after that of the last probe.
    pub(super) fn end(&self) -> u16 {
        self.first.wrapping_add(self.sent.wrapping_mul(2))
    }

    /// Returns the probes that must be sent now. `session` is what the order of each pair is drawn from.
    pub(super) fn due(&mut self, session: u64, round_trip: Duration, now: Duration) -> Option<[Probe; 2]> {
        let wait = LEAST_WAIT.saturating_add(round_trip.saturating_mul(2));
        self.waiting.retain(|(_, sent_at)| now.saturating_sub(*sent_at) < wait);
        // A path that is only full gets few probes at once.
        let most = self.answered.saturating_add(2).min(MOST_WAITING) as usize;
        if now < self.next || self.waiting.len() >= most || self.answered >= self.certainty.pairs {
            return None;
        }
        let number = self.end();
        self.sent = self.sent.saturating_add(1);
        self.next = now.saturating_add(jitter::around(INTERVAL, session, number.into()));
        self.waiting.push((number, now));
        let small = Probe { number, bytes: 0 };
        let large = Probe { number: number.wrapping_add(1), bytes: self.bytes };
        Some(if jitter::is_one_of(2, !session, number.into()) { [small, large] } else { [large, small] })
    }

    /// Handles the answer of the probe with this number.
    pub(super) fn answered(&mut self, number: u16, now: Duration) {
        let distance = number.wrapping_sub(self.first);
        if distance >= self.sent.saturating_mul(2) {
            return;
        }
        if !distance.is_multiple_of(2) {
            self.has_carried = true;
        } else if let Some(at) = self.waiting.iter().position(|(small, _)| *small == number) {
            self.waiting.swap_remove(at);
            self.answered = self.answered.saturating_add(1);
            self.last_answer = now;
        }
    }

    /// Returns the verdict, if there is one.
    pub(super) fn verdict(&self, round_trip: Duration, now: Duration) -> Option<Verdict> {
        let waited = now.saturating_sub(self.last_answer);
        if self.has_carried {
            Some(Verdict::Carried)
        } else if self.answered >= self.certainty.pairs {
            (waited >= self.certainty.wait.saturating_add(round_trip)).then_some(Verdict::Blocked)
        } else {
            (now.saturating_sub(self.began) >= LONGEST).then_some(Verdict::Unknown)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Duration = Duration::from_millis(16);
    const SURE: Certainty = Certainty { pairs: 20, wait: Duration::from_millis(500) };

    /// Runs a test without delays. `arrives` says whether the probe with this number and size is answered.
    /// Returns the verdict, and how long it took.
    fn run(mut arrives: impl FnMut(u16, usize) -> bool) -> (Verdict, Duration) {
        let (mut test, mut now) = (PairTest::new(1_200, SURE, 65_530, Duration::ZERO), Duration::ZERO);
        loop {
            for probe in test.due(7, Duration::ZERO, now).into_iter().flatten() {
                if arrives(probe.number, probe.bytes) {
                    test.answered(probe.number, now);
                }
            }
            match test.verdict(Duration::ZERO, now) {
                Some(verdict) => return (verdict, now),
                None => now += TICK,
            }
        }
    }

    #[test]
    fn a_narrow_path_is_found_in_two_seconds_and_one_large_probe_is_enough_for_the_contrary() {
        let (verdict, elapsed) = run(|_, bytes| bytes < 1_200);
        assert_eq!(verdict, Verdict::Blocked);
        assert!(elapsed < Duration::from_secs(2), "{elapsed:?}");
        let mut large = 0;
        let (verdict, _) = run(|_, bytes| {
            large += u32::from(bytes > 0);
            bytes == 0 || large == 17
        });
        assert_eq!((verdict, large), (Verdict::Carried, 17));
    }

    #[test]
    fn losses_that_do_not_depend_on_the_size_never_look_like_a_narrow_path() {
        let mut state = 1_u64;
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 33
        };
        for percent in [0, 5, 20, 50, 75, 90, 99] {
            for _ in 0..400 {
                let (verdict, _) = run(|_, _| random() % 100 >= percent);
                assert_ne!(verdict, Verdict::Blocked, "{percent} %");
            }
        }
        for parity in 0..2 {
            let mut packets = 0;
            let (verdict, _) = run(|_, _| {
                packets += 1;
                packets % 2 == parity
            });
            assert_eq!(verdict, Verdict::Carried, "of every two packets one is lost");
        }
    }
}
