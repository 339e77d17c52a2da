//! The lead: by how many ticks a client's inputs must be ahead of the server's ticks, so that they arrive in
//! time.
//!
//! *Invariant:* a lead is between 0 and [`MOST_AHEAD_TICKS`], whatever a server reports.

use std::collections::VecDeque;

use super::received::MOST_AHEAD_TICKS;

/// The number of newest reports that are used. If few inputs are missing, they are the reports of the last
/// 2,000 ticks.
const REPORTS: usize = 125;

/// Of each 41 reports, the one that needs the greatest lead is ignored.
const ONE_OF: usize = 41;

/// If this number of consecutive reports differ much from all reports before them, the link has changed.
const CHANGE: usize = 3;

/// If more reports than this are stored, the lead changes only slowly, so that the clock runs evenly.
const FEW: usize = 8;

/// The greatest change of the lead, in ticks per report, if it changes slowly.
const MOST_AT_ONCE: f64 = 0.25;

/// The greatest number of ticks by which rare delays may increase the lead above its median. A greater lead
/// for rare delays would make every input arrive earlier than necessary.
const MOST_FOR_RARE: f64 = 3.0;

/// Computes by how many ticks inputs must be ahead of the server.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lead {
    /// For each of the newest reports, the lead that its latest input would have needed to arrive in time.
    needed: VecDeque<f64>,
    /// The lead in ticks. `None` before the first call of `ticks` and the first report.
    ticks: Option<f64>,
}

impl Lead {
    /// Returns the lead in ticks. Before the first report of the server, this is `first`.
    pub(crate) fn ticks(&mut self, first: f64) -> f64 {
        *self.ticks.get_or_insert(first.clamp(0.0, MOST_AHEAD_TICKS as f64))
    }

    /// Records a report. The latest input in the report was made `ahead` ticks before its tick on the server,
    /// and arrived `margin` ticks before it.
    pub(crate) fn take(&mut self, ahead: f64, margin: f64) {
        if self.needed.len() == REPORTS {
            self.needed.pop_front();
        }
        self.needed.push_back(ahead - margin);
        self.forget_before_change();
        let mut sorted: Vec<f64> = self.needed.iter().copied().collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let skipped = sorted.len() / ONE_OF;
        let at = |index: usize| sorted.get(index).copied().unwrap_or(ahead);
        let greatest = at(sorted.len().saturating_sub(1).saturating_sub(skipped));
        let usual = at(sorted.len() / 2);
        let aim = greatest.min(usual + MOST_FOR_RARE);
        let most = if self.needed.len() > FEW { MOST_AT_ONCE } else { f64::INFINITY };
        let ticks = self.ticks.map_or(aim, |ticks| aim.clamp(ticks - most, ticks + most));
        self.ticks = Some(ticks.clamp(0.0, MOST_AHEAD_TICKS as f64));
    }

    /// If the link has changed, forgets the reports from before the change.
    fn forget_before_change(&mut self) {
        let before = self.needed.len().saturating_sub(CHANGE);
        let range = |from, to| {
            let some = self.needed.range(from..to).copied();
            some.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), needed| {
                (least.min(needed), most.max(needed))
            })
        };
        let (old, new) = (range(0, before), range(before, self.needed.len()));
        if new.0 > old.1 + MOST_FOR_RARE || new.1 + MOST_FOR_RARE < old.0 {
            self.needed.drain(..before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(needs: impl IntoIterator<Item = f64>) -> f64 {
        let mut lead = Lead::default();
        needs.into_iter().for_each(|needed| lead.take(needed + 1.0, 1.0));
        lead.ticks(99.0)
    }

    #[test]
    fn the_lead_is_the_greatest_that_was_needed() {
        assert_eq!(Lead::default().ticks(12.0), 12.0);
        assert_eq!(after([4.0]), 4.0);
        assert_eq!(after([4.0, 6.0, 5.0]), 6.0);
        let usual = (0..125).map(|report| 4.0 + f64::from(report % 3));
        assert_eq!(after(usual.clone()), 6.0);
        assert_eq!(after(usual.chain([8.0, 9.0, 9.0])), 6.0, "three of 125 reports do not count");
    }

    #[test]
    fn what_is_rare_adds_at_most_three_ticks() {
        let bursts = (0..125).map(|report| if report % 10 == 0 { 30.0 } else { 5.0 });
        assert_eq!(after(bursts), 8.0);
    }

    #[test]
    fn the_lead_changes_slowly_if_it_is_well_known() {
        let usual = std::iter::repeat_n(5.0, 40);
        assert_eq!(after(usual.clone().chain([7.0])), 5.0);
        assert_eq!(after(usual.clone().chain([7.0, 7.0])), 5.25);
        assert_eq!(after(usual.chain([7.0; 5])), 6.0);
    }

    #[test]
    fn three_reports_far_from_those_before_are_believed() {
        let usual = std::iter::repeat_n(5.0, 100);
        assert_eq!(after(usual.clone().chain([15.0, 16.0])), 5.0);
        assert_eq!(after(usual.clone().chain([15.0, 16.0, 15.0])), 16.0);
        assert_eq!(after(usual.chain([1.0, 1.5, 1.0])), 1.5);
    }
}
