//! A test whether a path carries packets of a size. Rounds of probes are sent: a large one of the size, and small
//! ones that together have as many bytes. They are sent at once, and a draw says which come first.
//!
//! A round counts if all of its small probes are answered. The path counts as too narrow if of so many rounds
//! no large probe is answered. Losses that do not depend on the size meet the large probe at most as often as
//! one of the small ones. A full queue that drops what has no room takes the large probe if and only if it
//! takes all small ones, and whichever come first have the same room. So on a path that carries the size, the
//! large probe of the next round that counts, or one before it, is answered with a probability of at least one
//! half, however high the loss is.
//!
//! *Invariant:* the answer of one large probe is enough for the verdict that the path carries the size.

use std::time::Duration;

use crate::rate::jitter;

/// The mean time between two rounds, and the most rounds whose small probes are not answered yet.
const INTERVAL: Duration = Duration::from_millis(50);
const MOST_WAITING: u32 = 4;

/// A round is given up after this time and two round trips.
const LEAST_WAIT: Duration = Duration::from_millis(200);

/// The greatest size of a small probe.
const SMALL_BYTES: usize = 480;

/// A test ends without a verdict after this time.
const LONGEST: Duration = Duration::from_secs(15);

/// A packet to be sent, to find out whether one of its size arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Probe {
    pub(crate) number: u16,
    /// The size to which it is padded.
    pub(crate) bytes: usize,
}

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
    /// The number of rounds that must count. If the path carries the size, the test is wrong in one of two to
    /// the power of this number of cases at most.
    pub(super) rounds: u32,
    /// The number of small probes in a round. With one, a full queue may look like a narrow path.
    pub(super) small: u16,
    /// How long the last large probes have time to be answered, in addition to a round trip.
    pub(super) wait: Duration,
}

/// A round whose small probes were not all answered yet.
#[derive(Debug)]
struct Round {
    number: u16,
    sent_at: Duration,
    /// One bit for each small probe that was not answered.
    missing: u16,
}

/// A test of one size.
#[derive(Debug)]
pub(super) struct SizeTest {
    /// The size in bytes.
    pub(super) bytes: usize,
    certainty: Certainty,
    began: Duration,
    /// The number of the first probe. The probes of a round have consecutive numbers, the large one the last.
    first: u16,
    /// How many rounds were sent.
    sent: u16,
    /// When the next round is sent, if not too many wait.
    next: Duration,
    waiting: Vec<Round>,
    /// How many rounds count, and when the last of their small probes was answered.
    answered: u32,
    last_answer: Duration,
    has_carried: bool,
}

impl SizeTest {
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

    /// Returns how many probes a round has.
    fn of_round(&self) -> u16 {
        self.certainty.small.saturating_add(1)
    }

    /// Returns the number after that of the last probe.
    pub(super) fn end(&self) -> u16 {
        self.first.wrapping_add(self.sent.wrapping_mul(self.of_round()))
    }

    /// Returns the probes that must be sent now. `session` is what the order of each round is drawn from.
    pub(super) fn due(&mut self, session: u64, round_trip: Duration, now: Duration) -> Vec<Probe> {
        let wait = LEAST_WAIT.saturating_add(round_trip.saturating_mul(2));
        self.waiting.retain(|round| now.saturating_sub(round.sent_at) < wait);
        // A path that is only full gets few probes at once.
        let most = self.answered.saturating_add(1).min(MOST_WAITING) as usize;
        if now < self.next || self.waiting.len() >= most || self.answered >= self.certainty.rounds {
            return Vec::new();
        }
        let (number, small) = (self.end(), self.certainty.small);
        self.sent = self.sent.saturating_add(1);
        self.next = now.saturating_add(jitter::around(INTERVAL, session, number.into()));
        self.waiting.push(Round { number, sent_at: now, missing: u16::MAX >> 16_u16.saturating_sub(small) });
        let large = Probe { number: number.wrapping_add(small), bytes: self.bytes };
        let bytes = (self.bytes / 4).min(SMALL_BYTES);
        let small = (0..small).map(|at| Probe { number: number.wrapping_add(at), bytes });
        if jitter::is_one_of(2, !session, number.into()) {
            small.chain([large]).collect()
        } else {
            std::iter::once(large).chain(small).collect()
        }
    }

    /// Handles the answer of the probe with this number.
    pub(super) fn answered(&mut self, number: u16, now: Duration) {
        let (distance, of_round) = (number.wrapping_sub(self.first), self.of_round());
        if distance >= self.sent.saturating_mul(of_round) {
            return;
        }
        let place = distance % of_round;
        if place == self.certainty.small {
            self.has_carried = true;
            return;
        }
        let is_of = |round: &Round| round.number == number.wrapping_sub(place);
        let Some(round) = self.waiting.iter_mut().find(|round| is_of(round)) else { return };
        round.missing &= !(1 << place);
        if round.missing == 0 {
            self.waiting.retain(|round| !is_of(round));
            self.answered = self.answered.saturating_add(1);
            self.last_answer = now;
        }
    }

    /// Returns the verdict, if there is one.
    pub(super) fn verdict(&self, round_trip: Duration, now: Duration) -> Option<Verdict> {
        let waited = now.saturating_sub(self.last_answer);
        if self.has_carried {
            Some(Verdict::Carried)
        } else if self.answered >= self.certainty.rounds {
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
    const SURE: Certainty = Certainty { rounds: 20, small: 4, wait: Duration::from_millis(500) };

    /// Runs a test without delays. `arrives` says whether the probe with this number and size is answered.
    /// Returns the verdict, and how long it took.
    fn run(mut arrives: impl FnMut(u16, usize) -> bool) -> (Verdict, Duration) {
        let (mut test, mut now) = (SizeTest::new(1_200, SURE, 65_530, Duration::ZERO), Duration::ZERO);
        loop {
            for probe in test.due(7, Duration::ZERO, now) {
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
            large += u32::from(bytes == 1_200);
            bytes < 1_200 || large == 17
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
        for seed in 0..200 {
            // A queue that others keep more or less full, and that drops what has no room.
            let (mut last, mut room) = (0, 0);
            let (verdict, _) = run(|number, bytes| {
                let round = (number.wrapping_sub(65_530)) / 5;
                if round != last {
                    (last, room) = (round, (random() + seed) as usize % 1_500);
                }
                let takes = bytes <= room;
                room -= if takes { bytes } else { 0 };
                takes
            });
            assert_ne!(verdict, Verdict::Blocked, "a full queue");
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
