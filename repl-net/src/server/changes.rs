//! The changes of one tick, of all objects.
//!
//! *Invariant:* each object has at most one changelist in a tick, for all connections together (S67). A new
//! object has none.

use repl_core::{Changelist, Refusal, Scratch};

use crate::transport::recycled::{Recycled, free_large};
use crate::transport::slot_set::SlotSet;

/// The changes of this tick.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// The changes of each changed object, in ascending order of the slots.
    items: Recycled<Change>,
    /// For each slot, the index of its entry in `items`. The index in `at` is valid if the slot is in
    /// `slots`.
    at: Vec<u32>,
    /// The slots of the objects that changed, without new objects, after [`complete`](Self::complete).
    pub(crate) slots: SlotSet,
    /// The objects whose default view changed, or that were removed.
    pub(crate) recast: SlotSet,
    /// The objects that were spawned since the last tick. No client has them, so nobody receives their
    /// changes: each client receives them whole.
    pub(crate) newborn: SlotSet,
    /// Changelists that were dropped from the full history of an object, each with the object's slot and its
    /// position in the history (R10).
    pub(crate) evicted: Vec<(u32, u64, Changelist)>,
    /// Values that cannot be sent, each with its slot and its refusal.
    pub(crate) refusals: Vec<(u32, Refusal)>,
}

/// The changes of one object.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) slot: u32,
    pub(crate) list: Changelist,
}

impl Changes {
    /// Returns the changes of this tick, in ascending order of the slots.
    pub(crate) fn as_slice(&self) -> &[Change] {
        &self.items
    }

    /// Returns the changes of the object in `slot`, if it has changed.
    pub(crate) fn list(&self, slot: u32) -> Option<&Changelist> {
        if !self.slots.contains(slot) {
            return None;
        }
        self.items.get(*self.at.get(slot as usize)? as usize).map(|change| &change.list)
    }

    pub(crate) fn clear(&mut self) {
        self.items.clear();
        self.slots.clear();
        self.recast.clear();
        self.newborn.clear();
        self.evicted.clear();
        self.refusals.clear();
    }

    /// Frees the entries that no tick needed recently, and large changelists of the other unused entries. The
    /// server calls `end_round` between two ticks.
    pub(crate) fn end_round(&mut self) {
        self.items.end_round(|change| free_large(&mut change.list));
    }

    /// Makes room for the changes of objects in slots below `end`.
    pub(crate) fn reserve(&mut self, end: usize) {
        if self.at.len() < end {
            self.at.resize(end, 0);
        }
    }

    /// Returns an empty changelist, in which the caller stores the changes of the object in `slot`.
    /// [`keep`](Self::keep) then adds the changelist to the changes of this tick. `scratch` keeps the memory
    /// of earlier changes.
    #[inline]
    pub(crate) fn blank(&mut self, slot: u32, scratch: &mut Scratch) -> &mut Changelist {
        let change = self.items.next_or(|| Change { slot, list: Changelist::new() });
        change.slot = slot;
        scratch.recycle(&mut change.list);
        &mut change.list
    }

    /// Adds the changelist that [`blank`](Self::blank) returned last to the changes of this tick, unless the
    /// object is new or the changelist is empty. Returns the changelist if it is not empty.
    #[inline]
    pub(crate) fn keep(&mut self) -> Option<&Changelist> {
        let change = self.items.next()?;
        if change.list.is_empty() {
            return None;
        }
        if self.newborn.contains(change.slot) {
            return self.items.next().map(|change| &change.list);
        }
        self.items.keep();
        self.items.last().map(|change| &change.list)
    }

    /// Notes which slots have changes. The server calls `complete` when all objects are compared. There must
    /// be [room](Self::reserve) for the slots.
    pub(crate) fn complete(&mut self) {
        for (change, at) in self.items.iter().zip(0..) {
            self.at[change.slot as usize] = at;
            self.slots.insert(change.slot);
        }
    }
}
