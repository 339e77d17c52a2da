//! A test of whether a path carries packets of a size. It sends rounds of probes. A round is one large probe
//! of this size, and small probes that together have as many bytes. All probes of a round are sent at once,
//! and a pseudorandom choice decides whether the large probe or the small probes come first.
//!
//! A round counts if all its small probes are answered. If enough rounds count and no large probe is
//! answered, the path does not carry the size.
//!
//! Why this is right: random losses hit the large probe at most as often as at least one of the small probes.
//! A full queue has the same room for the large probe as for all small probes together, whichever come first.
//! So on a path that carries the size, the probability is at least one half, at any rate of loss, that a
//! large probe is answered between one round that counts and the next.
//!
//! *Invariant:* a single answer to a large probe shows that the path carries the size.

use std::time::Duration;

use crate::rate::jitter;

/// `INTERVAL` is the mean time between two rounds. At most `MOST_WAITING` rounds wait for answers to their
/// small probes at the same time.
const INTERVAL: Duration = Duration::from_millis(50);
const MOST_WAITING: u32 = 4;

/// A round ends without a result after this time plus two round trips.
const LEAST_WAIT: Duration = Duration::from_millis(200);

/// The greatest size of a small probe.
const SMALL_BYTES: usize = 480;

/// A test ends without a verdict after this time.
const LONGEST: Duration = Duration::from_secs(15);

/// A packet that is sent to find out whether packets of its size arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Probe {
    pub(crate) number: u16,
    /// The size to which the packet is padded.
    pub(crate) bytes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The path carries the size.
    Carried,
    /// The path carries small packets, but no packets of this size.
    Blocked,
    /// Too many packets were lost for a result.
    Unknown,
}

/// How sure a test must be before it reports that a size is blocked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Certainty {
    /// The number of rounds that must count. If the path carries the size, the probability of a wrong result
    /// is at most one half to the power of this number.
    pub(super) rounds: u32,
    /// The number of small probes in a round. With one small probe, a full queue may look like a path that
    /// drops large packets.
    pub(super) small: u16,
    /// How long the test waits for the answers to the last large probes, in addition to a round trip.
    pub(super) wait: Duration,
}

/// A round that still waits for answers to small probes.
#[derive(Debug)]
struct Round {
    number: u16,
    sent_at: Duration,
    /// One bit for each small probe without an answer.
    missing: u16,
}

/// A test of one size.
#[derive(Debug)]
pub(super) struct SizeTest {
    /// The size in bytes.
    pub(super) bytes: usize,
    certainty: Certainty,
    began: Duration,
    /// The number of the first probe. The probes of a round have consecutive numbers, and the large probe has
    /// the last number.
    first: u16,
    /// How many rounds were sent.
    sent: u16,
    /// When the next round is sent, if not too many rounds wait for answers.
    next: Duration,
    waiting: Vec<Round>,
    /// How many rounds count, which means that all their small probes were answered. `last_answer` is the
    /// time of the last of these answers.
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

    fn of_round(&self) -> u16 {
        self.certainty.small.saturating_add(1)
    }

    /// Returns the number after the number of the last probe.
    pub(super) fn end(&self) -> u16 {
        self.first.wrapping_add(self.sent.wrapping_mul(self.of_round()))
    }

    /// Returns the probes that must be sent now. The order of the probes in each round depends on `session`.
    pub(super) fn due(&mut self, session: u64, round_trip: Duration, now: Duration) -> Vec<Probe> {
        let wait = LEAST_WAIT.saturating_add(round_trip.saturating_mul(2));
        self.waiting.retain(|round| now.saturating_sub(round.sent_at) < wait);
        // At first, only few rounds may wait at the same time, so that the probes do not fill a path that is
        // already congested.
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
            // A queue that other senders keep more or less full, and that drops packets for which it has no
            // room.
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
