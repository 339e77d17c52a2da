//! Decides how often the receiver of packets, a client or a connection of a server, sends acks: in the next
//! tick, and in more ticks if acks are likely to be lost.
//!
//! *Invariant:* the receiver sends at most one packet of acks in a tick (R8), and none if nothing has arrived
//! for a few ticks.

use std::ops::RangeInclusive;

use crate::frame::sequence::Sequence;

/// The number of ticks in which the receiver repeats an ack if many packets are lost: from 4 to 16. An ack is
/// repeated until two copies arrive on average. This assumes that packets in both directions are lost at the
/// same rate.
///
/// At 90 % loss in both directions, only 1 % of all retries would succeed if acks were not repeated. With
/// four retries a second (R9), a change that needs several round trips would then take too long. With
/// repeated acks, 8 % of the retries succeed. The time between two retries is 16 ticks.
const REPEATS: RangeInclusive<u64> = 4..=16;

/// The number of recent packets from which the share of lost packets is computed.
const MEMORY: u64 = 64;

/// Decides in which ticks the receiver sends acks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AckPace {
    newest: Option<Sequence>,
    /// The number of recent packets that have arrived, and the number of recent packets that are missing.
    arrived: u64,
    missing: u64,
    /// The number of further ticks in which acks must be sent.
    left: u8,
}

impl AckPace {
    /// Records that a packet has arrived that did not arrive before.
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

    /// Records that a packet has arrived that must be acked.
    pub(crate) fn schedule_acks(&mut self) {
        // Acks are repeated only if more than a quarter of the packets is lost. If fewer packets are lost,
        // the acks of the next packet replace a lost ack.
        self.left = if self.missing.saturating_mul(3) > self.arrived {
            let packets = self.arrived.saturating_add(self.missing);
            let tries = packets.saturating_mul(2) / self.arrived.max(1);
            tries.clamp(*REPEATS.start(), *REPEATS.end()) as u8
        } else {
            1
        };
    }

    /// Returns whether acks must be sent in a later tick.
    pub(crate) fn is_waiting(&self) -> bool {
        self.left > 0
    }

    /// Returns whether to send acks in this tick. Call it once in each tick in which packets may be sent. In
    /// other ticks, acks that are due stay due.
    pub(crate) fn is_due(&mut self) -> bool {
        let due = self.left > 0;
        self.left = self.left.saturating_sub(1);
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns in how many ticks acks are sent after the last packet of `arrivals`.
    fn ack_ticks(arrivals: impl Iterator<Item = u64>) -> usize {
        let mut pace = AckPace::default();
        for sequence in arrivals {
            pace.arrived(Sequence::new(sequence));
        }
        pace.schedule_acks();
        (0..100).filter(|_| pace.is_due()).count()
    }

    #[test]
    fn r08_acks_on_a_good_link_are_sent_once() {
        assert_eq!(ack_ticks(0..200), 1);
        assert_eq!(ack_ticks((0..200).filter(|at| at % 10 > 0)), 1);
        assert_eq!(ack_ticks((0..200).map(|at| at ^ 1)), 1, "packets that change places are not missing");
        assert_eq!(ack_ticks([7_000].into_iter()), 1);
    }

    #[test]
    fn r09_acks_on_a_lossy_link_are_repeated() {
        assert_eq!(ack_ticks((0..2_000).filter(|at| at % 10 == 0)), 16);
        assert_eq!(ack_ticks((0..200).filter(|at| at % 4 == 0)), 8);
        assert_eq!(ack_ticks((0..200).filter(|at| at % 2 == 0)), 4);
        assert_eq!(
            ack_ticks((0..200).filter(|at| at % 2 == 0).chain(200..400)),
            1,
            "old losses are forgotten"
        );
    }
}
