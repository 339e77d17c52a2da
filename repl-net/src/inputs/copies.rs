//! Decides how many packets carry each input, according to the share of packets that are lost.
//!
//! *Invariant:* the number is from [`LEAST`] to [`MOST`].

use super::report::InputReport;

/// The least number of copies, if they fit into the packets. A loss is known only after a round trip.
const LEAST: usize = 2;

/// The greatest number of copies. On a link that loses so many packets, more copies would not help.
pub(crate) const MOST: usize = 8;

/// At most one of this many inputs may be missing because all its copies were lost.
const MAY_MISS: f64 = 4_000.0;

/// The number of bundles after which the past counts little: the time constant of an exponential mean.
const MEMORY: f64 = 600.0;

/// Counts losses, to decide how many packets carry each input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copies {
    /// The number of bundles that have arrived, the number of lost bundles, and the number of bursts of
    /// losses. Each is a sum in which older values count less.
    arrived: f64,
    lost: f64,
    losses: f64,
}

impl Default for Copies {
    fn default() -> Self {
        // Begins as if one of 50 bundles had been lost, each loss alone. This counts little as soon as more
        // is known.
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

    /// Returns how many packets shall carry each input.
    pub(crate) fn count(&self) -> usize {
        let share = self.lost / (self.arrived + self.lost);
        // The probability that the bundle after a lost bundle is lost, too.
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

    /// Returns the number of copies after 200 reports with these numbers.
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
