//! The outcome of a packet: which objects the packet creates and removes.
//!
//! *Invariant:* while a packet is applied, references resolve to the objects that exist after the whole
//! packet was applied. The first validation makes the outcome, so in it every reference resolves. If this may
//! change what user code reads, a second validation uses the outcome.

use repl_core::Guid;

use crate::transport::slot_set::SlotSet;

/// The objects that a packet creates and removes.
#[derive(Debug)]
pub(crate) struct Outcome {
    opened: Vec<Guid>,
    closed: Vec<u32>,
    /// The slots of the removed objects (`closed`), as a set.
    closing: SlotSet,
}

/// A position in an [`Outcome`]. [`Outcome::truncate`] removes everything that was added after the marked
/// position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutcomeMark {
    opened: usize,
    closed: usize,
}

impl Outcome {
    /// Returns an empty outcome for slots below `slots`.
    pub(crate) fn new(slots: usize) -> Self {
        Self { opened: Vec::new(), closed: Vec::new(), closing: SlotSet::up_to(slots) }
    }

    pub(crate) fn clear(&mut self) {
        self.truncate(OutcomeMark { opened: 0, closed: 0 });
    }

    pub(crate) fn open(&mut self, guid: Guid) {
        self.opened.push(guid);
    }

    /// Records that the packet removes the object in `slot`, if there is one. The argument `slot` must be
    /// less than the number of slots that was passed to [`new`](Self::new).
    pub(crate) fn close(&mut self, slot: u32) {
        self.closed.push(slot);
        self.closing.insert(slot);
    }

    pub(crate) fn mark(&self) -> OutcomeMark {
        OutcomeMark { opened: self.opened.len(), closed: self.closed.len() }
    }

    /// Removes the objects that were added since `mark` from the outcome.
    pub(crate) fn truncate(&mut self, mark: OutcomeMark) {
        self.opened.truncate(mark.opened);
        for slot in self.closed.drain(mark.closed.min(self.closed.len())..) {
            self.closing.remove(slot);
        }
    }

    /// Sorts the objects in the outcome. Call `sort` after all objects are added, and before
    /// [`opens`](Self::opens).
    pub(crate) fn sort(&mut self) {
        self.opened.sort_unstable();
        self.closed.sort_unstable();
    }

    pub(crate) fn opens(&self, guid: Guid) -> bool {
        !self.opened.is_empty() && self.opened.binary_search(&guid).is_ok()
    }

    pub(crate) fn closes(&self, slot: u32) -> bool {
        !self.closed.is_empty() && self.closing.contains(slot)
    }

    /// Returns whether the packet removes any object.
    pub(crate) fn closes_any(&self) -> bool {
        !self.closed.is_empty()
    }

    /// Returns whether two outcomes create and remove the same objects. The two outcomes that are compared
    /// must be sorted.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.opened == other.opened && self.closed == other.closed
    }
}
