//! The changes of one tick, of all objects.
//!
//! *Invariant:* each object has at most one changelist in a tick, for all connections together (S67). A new
//! object has none.

use std::time::Duration;

use repl_core::{Changelist, DeltaBase, Refusal, Scratch};

use crate::body::growth::shrink;
use crate::body::recycled::{Recycled, free_large};
use crate::body::slot_set::SlotSet;

/// The results of the comparisons of objects in one tick.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// The changes of each changed object, in ascending order of the slots.
    items: Recycled<Change>,
    /// Changelists that were dropped because the history of their object was full, each with the object's
    /// slot and its position in the history (R10).
    pub(crate) evicted: Vec<(u32, u64, Changelist)>,
    /// The refusals of values that cannot be sent, each with the slot of the object.
    pub(crate) refusals: Vec<(u32, Refusal)>,
    /// Objects that have a refused value now and had none before (`true`), and objects that had one and have
    /// none now (`false`).
    pub(crate) refusing: Vec<(u32, bool)>,
    /// The values that the comparison of the current object has refused.
    pub(crate) refused: Vec<Refusal>,
    /// The values that were replaced of properties that are sent as differences, with their slots and
    /// handles.
    pub(crate) replaced: Vec<(u32, u32, DeltaBase)>,
    /// Memory that comparisons reuse.
    pub(crate) scratch: Scratch,
}

/// The changes of this tick.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(crate) found: Findings,
    /// For each slot, the last change of its object.
    last: Vec<LastChange>,
    /// The time of this tick, in milliseconds, at least 1. It wraps around after 49 days.
    now_ms: u32,
    /// The slots of the objects that changed, without new objects. [`complete`](Self::complete) sets them.
    pub(crate) slots: SlotSet,
    /// The objects whose default view changed, or that were removed.
    pub(crate) view_changed: SlotSet,
    /// The objects that were spawned since the last tick. No client has them, so nobody receives their
    /// changes: each client receives them whole.
    pub(crate) newborn: SlotSet,
}

/// The last change of an object.
#[derive(Clone, Copy, Debug, Default)]
struct LastChange {
    /// The index in [`Changes::found`]. It is valid if the slot is in [`Changes::slots`].
    at: u32,
    /// When the object changed last, as [`Changes::now_ms`], or zero if it has not changed since it was
    /// spawned.
    ms: u32,
}

#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) slot: u32,
    pub(crate) list: Changelist,
}

pub(crate) struct Outcome<'a> {
    pub(crate) changes: &'a mut Changelist,
    pub(crate) refusals: &'a mut Vec<Refusal>,
    pub(crate) scratch: &'a mut Scratch,
}

impl Findings {
    /// Returns the changes of the object, if only one object was compared.
    pub(crate) fn into_only(mut self) -> Changelist {
        self.items.last_mut().map_or_else(Changelist::new, |change| std::mem::take(&mut change.list))
    }

    fn clear(&mut self) {
        self.items.clear();
        self.evicted.clear();
        self.refusals.clear();
        self.refusing.clear();
        self.replaced.clear();
    }

    /// Notes which values of the object in `slot` its comparison has replaced.
    #[cold]
    pub(crate) fn note_replaced(&mut self, slot: u32) {
        let Self { scratch, replaced, .. } = self;
        replaced.extend(scratch.take_replaced().map(|(handle, base)| (slot, handle, base)));
    }

    /// Frees the memory that no tick needed recently.
    pub(crate) fn end_round(&mut self) {
        self.items.end_round(|change| free_large(&mut change.list));
        self.scratch.end_round();
    }

    /// Returns the collections in which the comparison of the object in `slot` stores its results: an empty
    /// changelist, [`refused`](Self::refused), and the scratch memory. [`keep`](Self::keep) then adds the
    /// changelist to the findings.
    #[inline]
    pub(crate) fn blank(&mut self, slot: u32) -> Outcome<'_> {
        let Self { items, scratch, refused, .. } = self;
        let change = items.next_or(|| Change { slot, list: Changelist::new() });
        change.slot = slot;
        scratch.recycle(&mut change.list);
        Outcome { changes: &mut change.list, refusals: refused, scratch }
    }

    /// Adds the changelist that [`blank`](Self::blank) returned last to the findings and returns it, unless
    /// it is empty.
    #[inline]
    pub(crate) fn keep(&mut self) -> Option<&Changelist> {
        self.items.keep_if(|change| !change.list.is_empty()).map(|change| &change.list)
    }

    /// Returns the changelist that [`blank`](Self::blank) returned last if it is not empty, but does not add
    /// it to the findings. The next object reuses its memory.
    #[inline]
    pub(crate) fn pass_by(&self) -> Option<&Changelist> {
        self.items.next().map(|change| &change.list).filter(|list| !list.is_empty())
    }

    /// Adds a change of the object in `slot`, and returns its changelist. `changed` contains the changed
    /// handles below 64, as bits.
    #[inline]
    pub(crate) fn add_flat(&mut self, slot: u32, changed: u64) -> &Changelist {
        let Self { items, scratch, .. } = self;
        let change = items.keep_or(|| Change { slot, list: Changelist::new() });
        change.slot = slot;
        scratch.recycle(&mut change.list);
        change.list.insert_word(changed);
        &change.list
    }

    /// Moves the findings of `others` into this collection and sorts them by slot. In each of `others`, the
    /// changes are in ascending order of the slots.
    #[cfg(feature = "rayon")]
    pub(crate) fn take_in<'f>(&mut self, others: impl Iterator<Item = &'f mut Self>) {
        for other in others {
            self.items.take_in(&mut other.items, || Change { slot: 0, list: Changelist::new() });
            self.evicted.append(&mut other.evicted);
            self.refusals.append(&mut other.refusals);
            self.refusing.append(&mut other.refusing);
            self.replaced.append(&mut other.replaced);
        }
        self.sort();
    }

    /// Sorts the findings by slot. They must consist of parts in ascending order of the slots.
    pub(crate) fn sort(&mut self) {
        // These sorts are fast, because the lists consist of a few sorted parts. They are stable, so the
        // findings of one object keep their order.
        self.items.sort_by_key(|change| change.slot);
        self.evicted.sort_by_key(|(slot, ..)| *slot);
        self.refusals.sort_by_key(|(slot, _)| *slot);
    }
}

impl Changes {
    /// Returns the changes of this tick, in ascending order of the slots.
    pub(crate) fn as_slice(&self) -> &[Change] {
        &self.found.items
    }

    /// Returns the changes of the object in `slot`, if it has changed.
    pub(crate) fn get(&self, slot: u32) -> Option<&Change> {
        if !self.slots.contains(slot) {
            return None;
        }
        self.as_slice().get(self.last.get(slot as usize)?.at as usize)
    }

    pub(crate) fn list(&self, slot: u32) -> Option<&Changelist> {
        self.get(slot).map(|change| &change.list)
    }

    /// Begins a tick at the time `now`, without changes.
    pub(crate) fn begin_tick(&mut self, now: Duration) {
        self.found.clear();
        self.slots.clear();
        self.view_changed.clear();
        self.newborn.clear();
        self.now_ms = (now.as_millis() as u32).max(1);
    }

    /// Forgets the last change of the previous object in `slot`, because the slot has a new object.
    pub(crate) fn forget(&mut self, slot: u32) {
        self.last.get_mut(slot as usize).into_iter().for_each(|last| last.ms = 0);
    }

    /// Returns whether an object has changed since it was spawned.
    pub(crate) fn has_ever_changed(&self, slot: u32) -> bool {
        self.last.get(slot as usize).is_some_and(|last| last.ms > 0)
    }

    /// Returns whether an object may have changed since a time, which must be less than 24 days ago. The
    /// times are compared in milliseconds.
    pub(crate) fn may_have_changed_since(&self, slot: u32, since: Duration) -> bool {
        let since_ms = since.as_millis() as u32;
        let changed = self.last.get(slot as usize).map_or(0, |last| last.ms);
        changed > 0 && (changed.wrapping_sub(since_ms) as i32) >= 0
    }

    /// Frees the memory that no tick needed recently, and keeps memory for the changes of `slots` slots. The
    /// server calls `end_round` between two ticks.
    pub(crate) fn end_round(&mut self, slots: usize) {
        shrink(&mut self.last, slots);
        self.found.end_round();
    }

    /// Makes room for the changes of objects in slots below `end`.
    pub(crate) fn reserve(&mut self, end: usize) {
        if self.last.len() < end {
            self.last.resize(end, LastChange::default());
        }
    }

    /// Notes which slots have changes. The server calls `complete` when all objects are compared. There must
    /// be [room](Self::reserve) for the slots.
    pub(crate) fn complete(&mut self) {
        debug_assert!(
            self.as_slice().is_sorted_by(|one, next| one.slot < next.slot),
            "one list for each object"
        );
        for (change, at) in self.found.items.iter().zip(0..) {
            self.last[change.slot as usize] = LastChange { at, ms: self.now_ms };
            self.slots.insert(change.slot);
        }
    }
}
