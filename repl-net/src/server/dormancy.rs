//! Dormancy: objects that sleep while they do not change (S206, S207).
//!
//! *Invariant:* an object never sleeps through a change. The comparison that finds a change also wakes the
//! object, so no wake-up can be forgotten (W15).
//!
//! To add a dormancy, add a variant to [`Dormancy`]. The compiler then reports `Dormancies::set`, but it does
//! not report `get`, `sleepers_in`, `is_used` and `find_changed`. A new state between asleep and awake
//! depends on the connection: it is a set of `Sleep` in `connection/objects/sleep`, and `sleeping` in the
//! same folder has the transitions. `connection/proxies` sends it to the client as a bit of `Proxy`
//! (`body/role`), and `client/slot_table` applies it. The compiler reports only the uses of `Proxy`.

use crate::body::slot_set::{SlotSet, slots_of};
use crate::body::sparse_slots::SparseSlots;

/// Whether an object falls asleep while it does not change. A client keeps an object that sleeps. There
/// [`ClientObjectInfo::is_asleep`](crate::ClientObjectInfo::is_asleep) returns `true`, which means that the
/// client has everything of the object and that no changes are in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dormancy {
    /// The object never sleeps. This is the default.
    #[default]
    Awake,
    /// The object sleeps for each client that has acknowledged everything of the object.
    All,
    /// The object sleeps only for the connections for which
    /// [`set_dormant_for`](crate::ObjectHandle::set_dormant_for) allows it.
    Partial,
    /// No client receives the object before it first changes. Values that are written before the next tick
    /// are its initial values, and do not count as a change. After its first change, this is the same as
    /// [`All`](Self::All).
    Initial,
}

/// The dormancies of objects.
#[derive(Debug, Default)]
pub(crate) struct Dormancies {
    all: SlotSet,
    partial: SlotSet,
    /// Objects that no client receives before they change.
    initial: SlotSet,
    /// Objects of `initial` that were not compared since they were added to it.
    not_compared_yet: SlotSet,
    /// Objects that may sleep, and that [have changes](Self::find_changed) in this tick.
    changed: SlotSet,
}

impl Dormancies {
    pub(crate) fn get(&self, slot: u32) -> Dormancy {
        if self.initial.contains(slot) {
            Dormancy::Initial
        } else if self.all.contains(slot) {
            Dormancy::All
        } else if self.partial.contains(slot) {
            Dormancy::Partial
        } else {
            Dormancy::Awake
        }
    }

    pub(crate) fn set(&mut self, slot: u32, dormancy: Dormancy) {
        let (all, partial, initial) = match dormancy {
            Dormancy::Awake => (false, false, false),
            Dormancy::All => (true, false, false),
            Dormancy::Partial => (false, true, false),
            Dormancy::Initial => (true, false, true),
        };
        self.all.set(slot, all);
        self.partial.set(slot, partial);
        self.initial.set(slot, initial);
        self.not_compared_yet.set(slot, initial);
    }

    pub(crate) fn forget(&mut self, slot: u32) {
        self.set(slot, Dormancy::Awake);
    }

    /// Returns whether no client receives an object before it changes.
    pub(crate) fn is_initial(&self, slot: u32) -> bool {
        self.initial.contains(slot)
    }

    /// Returns the objects that no client receives before they change.
    pub(crate) fn initial(&self) -> impl Iterator<Item = u32> {
        self.initial.iter()
    }

    /// Returns the objects in word number `word` (64 slots) that may sleep for a connection. `chosen` are the
    /// partially dormant objects that may sleep for this connection, if there are any.
    pub(crate) fn sleepers_in(&self, word: usize, chosen: Option<&SparseSlots>) -> u64 {
        self.all.word(word) | self.partial.word(word) & chosen.map_or(0, |chosen| chosen.word(word))
    }

    /// Returns whether any object may sleep.
    pub(crate) fn is_used(&self) -> bool {
        !self.all.is_empty() || !self.partial.is_empty()
    }

    /// Finds the objects that may sleep and are in one of the sets in `changes`, which contain the objects
    /// with changes to send in this tick or later. In most ticks there are none.
    pub(crate) fn find_changed<'a>(&mut self, changes: impl Iterator<Item = &'a SlotSet>) {
        let Self { all, partial, changed, .. } = self;
        changed.clear();
        for slots in changes {
            let sleepers = slots.masks_in(all).chain(slots.masks_in(partial));
            sleepers.for_each(|(word, mask)| changed.insert_mask(word, mask));
        }
    }

    /// Returns the objects that [`find_changed`](Self::find_changed) has found in this tick.
    pub(crate) fn changed(&self) -> &SlotSet {
        &self.changed
    }

    /// Returns the initially dormant objects in `dirty`, which is about to be compared, without the objects
    /// that are compared for the first time. These objects [wake](Self::wake) if they have changed.
    pub(crate) fn begin_comparison(&mut self, dirty: &SlotSet) -> Vec<u32> {
        let Self { initial, not_compared_yet, .. } = self;
        let words = dirty.masks_in(initial).map(|(word, mask)| (word, mask & !not_compared_yet.word(word)));
        let touched = words.flat_map(|(word, mask)| slots_of(word, mask)).collect();
        not_compared_yet.clear();
        touched
    }

    /// Allows clients to receive an initially dormant object.
    pub(crate) fn wake(&mut self, slot: u32) {
        self.initial.remove(slot);
    }
}
