//! Changes that are sent later: connections that are far from an object receive its changes only every few
//! ticks (see [`Area::slower_beyond`](super::Area::slower_beyond)).
//!
//! A period is a number of ticks. For each period, each object has one list of changes. The list collects
//! changes from the tick after the object was last due until the object is due again. All connections with
//! this period receive the same list, so the list is encoded only once.
//!
//! A cell contains the objects of one region of the world, or of one group. A connection is in step with an
//! object if its client needs only the newest changes of the object, which many connections share.
//!
//! *Invariant:* if a connection has a period of more than one tick for the object's cell and is in step with
//! the object, it lacks at most the changes that wait for this period.

use repl_core::Changelist;

use super::cells::{Cells, Home};
use super::changes::Change;
use super::phase::phase_of;
use crate::body::slot_set::SlotSet;

/// The changes that far connections receive later, for each period.
#[derive(Debug, Default)]
pub(crate) struct LaterChanges {
    periods: Vec<Period>,
}

/// The changes that connections with one period (number of ticks between two updates) receive later.
#[derive(Debug)]
struct Period {
    ticks: u16,
    waiting: SlotSet,
    /// The waiting changes of each slot in `waiting`. The other lists are empty.
    lists: Vec<Changelist>,
    /// The objects that are due in each tick of the period, by their [phases](phase_of). Some of these
    /// objects may have no waiting changes any more.
    slots: Vec<Vec<u32>>,
    /// The changes that are due in this tick, in ascending order of their slots.
    due: Vec<Change>,
    due_slots: SlotSet,
}

impl LaterChanges {
    /// Adds the changes of this tick to the lists of all long periods (more than one tick) of the objects'
    /// cells, and finds the changes that are due now. The argument `prune` removes elements that no longer
    /// exist from a changelist.
    pub(crate) fn advance(
        &mut self,
        frame: u64,
        changes: &[Change],
        cells: &Cells,
        prune: impl Fn(u32, &mut Changelist),
    ) {
        if cells.have_bands() {
            for Change { slot, list } in changes {
                let Home::Cell(cell) = cells.home(*slot) else { continue };
                for ticks in cells.long_periods(cell) {
                    self.period_mut(ticks).add(*slot, list);
                }
            }
        }
        self.periods.iter_mut().for_each(|period| period.advance(frame, &prune));
    }

    fn period_mut(&mut self, ticks: u16) -> &mut Period {
        let at = self.periods.iter().position(|period| period.ticks == ticks).unwrap_or_else(|| {
            self.periods.push(Period::new(ticks));
            self.periods.len() - 1
        });
        &mut self.periods[at]
    }

    /// Returns the changes that are due in this tick, each with its period.
    pub(crate) fn due(&self) -> impl Iterator<Item = (u16, &[Change])> {
        self.periods.iter().map(|period| (period.ticks, period.due.as_slice()))
    }

    pub(crate) fn due_for(&self, ticks: u16) -> &[Change] {
        let period = self.periods.iter().find(|period| period.ticks == ticks);
        period.map_or(&[], |period| &period.due)
    }

    /// Returns the waiting changes of an object, one list for each period that has some.
    pub(crate) fn waiting(&self, slot: u32) -> impl Iterator<Item = &Changelist> {
        let waiting = self.periods.iter().filter(move |period| period.waiting.contains(slot));
        waiting.filter_map(move |period| period.lists.get(slot as usize))
    }

    /// Returns whether changes of an object wait for a period of `ticks` ticks.
    pub(crate) fn is_waiting(&self, ticks: u16, slot: u32) -> bool {
        self.periods.iter().any(|period| period.ticks == ticks && period.waiting.contains(slot))
    }

    /// Returns the changes of an object that wait for a period, or that are due for it in this tick. Costs
    /// O(log(due objects)).
    pub(crate) fn lacking(&self, ticks: u16, slot: u32) -> Option<&Changelist> {
        let period = self.periods.iter().find(|period| period.ticks == ticks)?;
        if period.waiting.contains(slot) {
            return period.lists.get(slot as usize);
        }
        let at = period.due.binary_search_by_key(&slot, |change| change.slot).ok()?;
        period.due.get(at).map(|change| &change.list)
    }

    /// Returns the sets of objects that have waiting changes, or changes that are due in this tick, for each
    /// period.
    pub(crate) fn slots(&self) -> impl Iterator<Item = &SlotSet> {
        self.periods.iter().flat_map(|period| [&period.waiting, &period.due_slots])
    }

    pub(crate) fn remove(&mut self, slot: u32) {
        self.periods.iter_mut().for_each(|period| period.remove(slot));
    }
}

impl Period {
    fn new(ticks: u16) -> Self {
        let slots = vec![Vec::new(); ticks.into()];
        Self {
            ticks,
            waiting: SlotSet::default(),
            lists: Vec::new(),
            slots,
            due: Vec::new(),
            due_slots: SlotSet::default(),
        }
    }

    fn add(&mut self, slot: u32, changes: &Changelist) {
        if self.lists.len() <= slot as usize {
            self.lists.resize_with(slot as usize + 1, Changelist::new);
        }
        let list = &mut self.lists[slot as usize];
        if self.waiting.contains(slot) {
            list.merge(changes);
        } else {
            self.waiting.insert(slot);
            list.clone_from(changes);
            self.slots[phase_of(slot, self.ticks.into()) as usize].push(slot);
        }
    }

    fn remove(&mut self, slot: u32) {
        if self.waiting.contains(slot) {
            self.waiting.remove(slot);
            self.lists[slot as usize].clear();
        }
    }

    fn advance(&mut self, frame: u64, prune: impl Fn(u32, &mut Changelist)) {
        self.due.clear();
        self.due_slots.clear();
        let Self { waiting, lists, slots, due, due_slots, .. } = self;
        let slots = &mut slots[(frame % u64::from(self.ticks)) as usize];
        slots.sort_unstable();
        for slot in slots.drain(..) {
            if waiting.contains(slot) {
                waiting.remove(slot);
                let mut list = std::mem::take(&mut lists[slot as usize]);
                prune(slot, &mut list);
                due.push(Change { slot, list });
                due_slots.insert(slot);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(handles: &[u32]) -> Changelist {
        let mut list = Changelist::new();
        handles.iter().for_each(|&handle| list.insert(handle));
        list
    }

    /// Returns the frame (number of the tick), slot and handles of each change that is due in the frames
    /// `frames`.
    fn due(period: &mut Period, frames: std::ops::Range<u64>) -> Vec<(u64, u32, Vec<u32>)> {
        let mut found = Vec::new();
        for frame in frames {
            period.advance(frame, |_, _| {});
            let due =
                period.due.iter().map(|change| (frame, change.slot, change.list.handles().iter().collect()));
            found.extend(due);
        }
        found
    }

    #[test]
    fn changes_of_a_period_are_due_together_and_once() {
        let mut period = Period::new(5);
        period.add(7, &list(&[1]));
        period.add(7, &list(&[3]));
        period.add(9, &list(&[2]));
        assert_eq!(due(&mut period, 0..10), [(1, 7, vec![1, 3]), (2, 9, vec![2])]);
        period.add(7, &list(&[4]));
        assert_eq!(due(&mut period, 10..20), [(11, 7, vec![4])]);
    }

    #[test]
    fn what_is_due_is_found_by_its_slot_in_whatever_order_it_was_added() {
        let mut later = LaterChanges::default();
        let slots = [40, 8, 24, 56, 16];
        slots.into_iter().for_each(|slot| later.period_mut(1).add(slot, &list(&[slot])));
        later.periods[0].advance(0, |_, _| {});
        let lacking = |slot| later.lacking(1, slot).map(|list| list.handles().iter().collect::<Vec<_>>());
        assert!(slots.into_iter().all(|slot| lacking(slot) == Some(vec![slot])));
        assert!(lacking(32).is_none());
    }

    #[test]
    fn what_was_removed_is_not_due_and_its_slot_starts_anew() {
        let mut period = Period::new(3);
        period.add(4, &list(&[1]));
        period.remove(4);
        period.add(4, &list(&[2]));
        assert_eq!(due(&mut period, 0..6), [(1, 4, vec![2])]);
        period.add(4, &list(&[3]));
        period.remove(4);
        assert_eq!(due(&mut period, 6..12), []);
    }
}
