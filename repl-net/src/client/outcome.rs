//! The outcome of a packet: which objects the packet creates and removes, as far as it was validated.
//!
//! *Invariant:* while a packet is applied, references resolve to the objects that exist after the whole
//! packet. The outcome is known only after the first validation, so during that validation every reference
//! resolves. If this may change the values that user code reads, a second validation resolves references by
//! the outcome.

use std::sync::Arc;

use repl_core::Guid;

use crate::body::slot_set::SlotSet;

/// The objects that a packet creates and removes.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The created objects, as runs of consecutive slots: the first object of each run, and its number of
    /// objects. All objects of a run have the same generation.
    opened: Vec<(Guid, u32)>,
    closed: Vec<u32>,
    /// The paths of the static objects that the packet creates.
    paths: Vec<Arc<str>>,
    /// The slots of the objects out of sight that the packet ends.
    ended: Vec<u32>,
    /// The same slots as in `closed`, as a set.
    closing: SlotSet,
}

/// A state of an [`Outcome`]. [`Outcome::truncate`] removes everything that was added after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutcomeMark {
    opened: usize,
    closed: usize,
    ended: usize,
    paths: usize,
}

impl Outcome {
    /// Returns an empty outcome for a client with `slots` slots.
    pub(crate) fn new(slots: usize) -> Self {
        let closing = SlotSet::up_to(slots);
        Self { opened: Vec::new(), closed: Vec::new(), paths: Vec::new(), ended: Vec::new(), closing }
    }

    pub(crate) fn clear(&mut self) {
        self.truncate(OutcomeMark { opened: 0, closed: 0, ended: 0, paths: 0 });
    }

    /// Records that the packet creates `count` objects in consecutive slots, beginning with `first`. All have
    /// the same generation.
    pub(crate) fn open(&mut self, first: Guid, count: u32) {
        self.opened.push((first, count));
    }

    /// Records that the packet creates a static object with this path.
    pub(crate) fn name(&mut self, path: Arc<str>) {
        self.paths.push(path);
    }

    /// Records that the packet removes the object in `slot`, if there is one. `slot` must be less than the
    /// number of slots that was passed to [`new`](Self::new).
    pub(crate) fn close(&mut self, slot: u32) {
        self.closed.push(slot);
        self.closing.insert(slot);
    }

    /// Records that the packet ends the object out of sight that was in `slot`.
    pub(crate) fn end(&mut self, slot: u32) {
        self.ended.push(slot);
    }

    pub(crate) fn mark(&self) -> OutcomeMark {
        let (opened, closed) = (self.opened.len(), self.closed.len());
        OutcomeMark { opened, closed, ended: self.ended.len(), paths: self.paths.len() }
    }

    /// Removes everything that was added to the outcome since `mark`.
    pub(crate) fn truncate(&mut self, mark: OutcomeMark) {
        self.opened.truncate(mark.opened);
        self.ended.truncate(mark.ended);
        self.paths.truncate(mark.paths);
        for slot in self.closed.drain(mark.closed.min(self.closed.len())..) {
            self.closing.remove(slot);
        }
    }

    /// Sorts the outcome. Call this after all objects were added, and before [`opens`](Self::opens).
    pub(crate) fn sort(&mut self) {
        self.opened.sort_unstable();
        self.closed.sort_unstable();
        self.ended.sort_unstable();
        self.paths.sort_unstable();
    }

    /// Returns whether the packet creates two objects with the same path. Call [`sort`](Self::sort) first.
    pub(crate) fn has_path_twice(&self) -> bool {
        self.paths.windows(2).any(|pair| matches!(pair, [one, other] if one == other))
    }

    pub(crate) fn opens(&self, guid: Guid) -> bool {
        let after = self.opened.partition_point(|(first, _)| first.slot() <= guid.slot());
        let run = after.checked_sub(1).and_then(|at| self.opened.get(at));
        run.is_some_and(|(first, count)| {
            first.generation() == guid.generation() && guid.slot().wrapping_sub(first.slot()) < *count
        })
    }

    pub(crate) fn closes(&self, slot: u32) -> bool {
        !self.closed.is_empty() && self.closing.contains(slot)
    }

    /// Returns whether the packet ends the object out of sight that was in `slot`. Call [`sort`](Self::sort)
    /// first.
    pub(crate) fn ends(&self, slot: u32) -> bool {
        self.ended.binary_search(&slot).is_ok()
    }

    pub(crate) fn ended(&self) -> &[u32] {
        &self.ended
    }

    pub(crate) fn closed(&self) -> &[u32] {
        &self.closed
    }

    pub(crate) fn removes_any(&self) -> bool {
        !self.closed.is_empty() || !self.ended.is_empty()
    }

    /// Returns whether two outcomes are equal. Both must be sorted.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.opened == other.opened
            && self.closed == other.closed
            && self.ended == other.ended
            && self.paths == other.paths
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    #[test]
    fn exactly_the_objects_of_the_runs_are_opened() {
        let mut outcome = Outcome::new(100);
        let guid = |slot, generation| Guid::new(slot, NonZeroU32::MIN.saturating_add(generation));
        let runs = [(20, 1, 3), (5, 2, 1), (23, 4, 2), (40, 1, 9)];
        for (slot, generation, count) in runs {
            outcome.open(guid(slot, generation), count);
        }
        outcome.sort();
        for slot in 0..100 {
            for generation in 0..6 {
                let is_in =
                    |run: &(u32, u32, u32)| run.1 == generation && (run.0..run.0 + run.2).contains(&slot);
                assert_eq!(
                    outcome.opens(guid(slot, generation)),
                    runs.iter().any(is_in),
                    "{slot}, {generation}"
                );
            }
        }
    }
}
