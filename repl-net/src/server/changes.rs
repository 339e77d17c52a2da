//! The changes of one tick, of all objects.
//!
//! *Invariant:* each object has at most one changelist in a tick, for all connections together (S67).

use repl_core::{Changelist, Refusal};

use crate::transport::slot_set::SlotSet;

/// The changes of this tick.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// The changes of each changed object, in ascending order of the slots. In `items`, the entries from
    /// index `len` on are unused memory.
    items: Vec<Change>,
    len: usize,
    /// The greatest number of entries that any tick has needed since spare entries were last freed (see
    /// `ROUND_TICKS`).
    most: usize,
    /// For each slot, the index of its entry in `items`. The index in `at` is valid if the slot is in
    /// `slots`.
    at: Vec<u32>,
    /// The slots of the objects that changed, after [`complete`](Self::complete).
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
        self.items.get(..self.len).unwrap_or_default()
    }

    /// Returns the changes of the object in `slot`, if it has changed.
    pub(crate) fn list(&self, slot: u32) -> Option<&Changelist> {
        if !self.slots.contains(slot) {
            return None;
        }
        self.items.get(*self.at.get(slot as usize)? as usize).map(|change| &change.list)
    }

    pub(crate) fn clear(&mut self) {
        self.most = self.most.max(self.len);
        self.len = 0;
        self.slots.clear();
        self.recast.clear();
        self.newborn.clear();
        self.evicted.clear();
        self.refusals.clear();
    }

    /// Frees the unused entries that no tick needed recently, and the memory of their changelists. The server
    /// calls `end_round` between two ticks.
    pub(crate) fn end_round(&mut self) {
        self.items.truncate(std::mem::take(&mut self.most));
        self.items.iter_mut().for_each(|change| change.list.clear());
        if self.items.capacity() > 4 * self.items.len() {
            self.items.shrink_to(2 * self.items.len());
        }
    }

    /// Makes room for the changes of objects in slots below `end`: for those of all new objects, because most
    /// of them have changed.
    pub(crate) fn reserve(&mut self, end: usize) {
        let newborn: u32 = self.newborn.masks().map(|(_, mask)| mask.count_ones()).sum();
        self.items.reserve((self.len + newborn as usize).saturating_sub(self.items.len()));
        if self.at.len() < end {
            self.at.resize(end, 0);
        }
    }

    /// Returns an empty changelist, in which the caller stores the changes of the object in `slot`.
    /// [`keep`](Self::keep) then adds the changelist to the changes of this tick.
    #[inline]
    pub(crate) fn blank(&mut self, slot: u32) -> &mut Changelist {
        if self.items.len() == self.len {
            self.items.push(Change { slot, list: Changelist::new() });
        }
        let change = &mut self.items[self.len];
        change.slot = slot;
        change.list.clear();
        &mut change.list
    }

    /// Returns the changelist that [`blank`](Self::blank) returned last, and the list of evicted changelists.
    pub(crate) fn last_blank(&mut self) -> (&Changelist, &mut Vec<(u32, u64, Changelist)>) {
        (&self.items[self.len].list, &mut self.evicted)
    }

    /// Adds the changelist that [`blank`](Self::blank) returned last to the changes of this tick.
    pub(crate) fn keep(&mut self) {
        self.len += 1;
    }

    /// Notes which slots have changes. The server calls `complete` when all objects are compared. There must
    /// be [room](Self::reserve) for the slots.
    pub(crate) fn complete(&mut self) {
        for (change, at) in self.items.iter().take(self.len).zip(0..) {
            self.at[change.slot as usize] = at;
            self.slots.insert(change.slot);
        }
    }
}
