//! Decides in how many packets each input is sent, from the share of packets that are lost.
//!
//! *Invariant:* the number of packets is at least [`LEAST`] and at most [`MOST`].

use super::report::InputReport;

/// The least number of copies, if they fit into the packets. A lost packet is known only after a round trip.
const LEAST: usize = 2;

/// The greatest number of copies. If this many consecutive packets are often lost, more copies would not
/// help.
pub(crate) const MOST: usize = 8;

/// At most one of this many inputs may be missing because all packets with it were lost.
const MAY_MISS: f64 = 4_000.0;

/// The number of bundles after which an old bundle has only 1/e of its weight in the sums.
const MEMORY: f64 = 600.0;

/// Counts losses, and decides from them in how many packets each input is sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copies {
    /// The number of bundles that have arrived, as a sum in which older values have less weight. (A bundle is
    /// the inputs in one packet.) The next two fields are the lost bundles and the bursts of losses.
    arrived: f64,
    lost: f64,
    losses: f64,
}

impl Default for Copies {
    fn default() -> Self {
        // The sums begin as if two of 100 bundles had been lost, each of them alone. This has little weight
        // after a few reports.
        Self { arrived: 98.0, lost: 2.0, losses: 2.0 }
    }
}

impl Copies {
    /// Adds the losses in a report of the server.
    pub(crate) fn take(&mut self, report: &InputReport) {
        let (arrived, lost) = (f64::from(report.arrived), f64::from(report.lost));
        let keep = (-(arrived + lost) / MEMORY).exp();
        self.arrived = self.arrived * keep + arrived;
        self.lost = self.lost * keep + lost;
        self.losses = self.losses * keep + f64::from(report.losses);
    }

    /// Returns in how many packets each input must be sent.
    pub(crate) fn count(&self) -> usize {
        let share = self.lost / (self.arrived + self.lost);
        // The probability that a bundle is lost if the previous bundle was lost.
        let goes_on = if self.lost > 0.0 { 1.0 - self.losses / self.lost } else { 0.0 };
        let goes_on = goes_on.max(share).clamp(0.000_1, 0.95);
        // The probability that all copies are lost is share × goes_on^(copies - 1).
        let more = (share * MAY_MISS).max(1.0).ln() / -goes_on.ln();
        let copies = 1.0 + more.ceil();
        if copies.is_finite() { (copies as usize).clamp(LEAST, MOST) } else { MOST }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of copies after 200 equal reports with these numbers of bundles and bursts.
    fn after(arrived: u8, lost: u8, losses: u8) -> usize {
        let mut copies = Copies::default();
        let mut report = InputReport::default();
        (report.arrived, report.lost, report.losses) = (arrived, lost, losses);
        (0..200).for_each(|_| copies.take(&report));
        copies.count()
    }

    #[test]
    fn the_number_of_copies_follows_losses_and_their_bursts() {
        assert_eq!(Copies::default().count(), 3);
        assert_eq!(after(100, 0, 0), 2);
        assert_eq!(after(99, 1, 1), 2);
        assert_eq!(after(98, 2, 2), 3);
        assert_eq!(after(95, 5, 5), 3);
        assert_eq!(after(90, 10, 10), 4);
        assert!((6..=8).contains(&after(90, 10, 5)), "two at a time are lost together");
        assert_eq!(after(50, 50, 25), 8);
        assert_eq!(after(0, 100, 0), 8);
    }
}
