//! When a client tells what arrived: once in the tick after, and again where acks are likely to be lost.
//!
//! Invariant: at most one packet of acks a tick (R8), and none once a few ticks have passed without anything to tell.

use std::ops::RangeInclusive;

use super::sequence::Sequence;

/// In how many ticks something is told where much is lost: as often as lets two of the acks through if as much is lost on the way back, but
/// no fewer than four and no more than 16. At 90 % loss in both directions a retry would succeed with 1 % otherwise, which at four
/// retries a second (R9) is too little for what takes several round trips; so it is with 8 %. 16 ticks are the time between retries.
const REPEATS: RangeInclusive<u64> = 4..=16;

/// Packets of which the share of missing ones is taken.
const MEMORY: u64 = 64;

/// How often acks are told.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AckPace {
    newest: Option<Sequence>,
    /// Packets that arrived of late, and packets before them that did not.
    arrived: u64,
    missing: u64,
    /// Ticks in which acks are still to be told.
    left: u8,
}

impl AckPace {
    /// A packet arrived that had not before.
    pub(crate) fn arrived(&mut self, sequence: Sequence) {
        match self.newest {
            Some(newest) if sequence < newest => self.missing = self.missing.saturating_sub(1),
            Some(newest) => {
                self.missing = self.missing.saturating_add(sequence.since(newest).saturating_sub(1))
            }
            None => {}
        }
        self.newest = self.newest.max(Some(sequence));
        self.arrived = self.arrived.saturating_add(1);
        while self.arrived.saturating_add(self.missing) > MEMORY {
            (self.arrived, self.missing) = (self.arrived / 2, self.missing / 2);
        }
    }

    /// There is something to tell.
    pub(crate) fn owe(&mut self) {
        // A quarter and more: less is made up for by the next packet's ack.
        self.left = if self.missing.saturating_mul(3) > self.arrived {
            let packets = self.arrived.saturating_add(self.missing);
            let tries = packets.saturating_mul(2) / self.arrived.max(1);
            tries.clamp(*REPEATS.start(), *REPEATS.end()) as u8
        } else {
            1
        };
    }

    /// Whether to tell it in this tick.
    pub(crate) fn is_due(&mut self) -> bool {
        let due = self.left > 0;
        self.left = self.left.saturating_sub(1);
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In how many ticks the last of these packets is acked.
    fn told(arrivals: impl Iterator<Item = u64>) -> usize {
        let mut pace = AckPace::default();
        for sequence in arrivals {
            pace.arrived(Sequence::new(sequence));
        }
        pace.owe();
        (0..100).filter(|_| pace.is_due()).count()
    }

    #[test]
    fn r08_a_good_link_is_told_once() {
        assert_eq!(told(0..200), 1);
        assert_eq!(told((0..200).filter(|at| at % 10 > 0)), 1);
        assert_eq!(told((0..200).map(|at| at ^ 1)), 1, "packets that change places are not missing");
        assert_eq!(told([7_000].into_iter()), 1);
    }

    #[test]
    fn r09_a_link_that_loses_much_is_told_again() {
        assert_eq!(told((0..2_000).filter(|at| at % 10 == 0)), 16);
        assert_eq!(told((0..200).filter(|at| at % 4 == 0)), 8);
        assert_eq!(told((0..200).filter(|at| at % 2 == 0)), 4);
        assert_eq!(told((0..200).filter(|at| at % 2 == 0).chain(200..400)), 1, "old losses are forgotten");
    }
}
