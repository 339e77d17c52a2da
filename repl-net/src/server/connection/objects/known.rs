//! The objects that a client has, is receiving, or must still remove. In a small world, most clients have all
//! objects. Then a tick need not check for each changed object whether the client has it.
//!
//! *Invariant:* if `complete_at` is the number of objects that were spawned so far, all objects that exist
//! are members.

use std::ops::Deref;

use crate::body::slot_set::SlotSet;
use crate::body::sparse_slots::SparseSlots;

/// The known objects of a connection. It derefs to [`SparseSlots`].
#[derive(Debug, Default)]
pub(super) struct KnownObjects {
    slots: SparseSlots,
    /// The number of objects that had ever been spawned when a check found that all existing objects are
    /// members of `slots`. `None` if a member was removed since then.
    complete_at: Option<u64>,
}

impl Deref for KnownObjects {
    type Target = SparseSlots;

    #[inline]
    fn deref(&self) -> &SparseSlots {
        &self.slots
    }
}

impl KnownObjects {
    pub(super) fn insert(&mut self, slot: u32) {
        self.slots.insert(slot);
    }

    pub(super) fn insert_mask(&mut self, word: usize, mask: u64) {
        self.slots.insert_mask(word, mask);
    }

    pub(super) fn remove_mask(&mut self, word: usize, mask: u64) {
        self.slots.remove_mask(word, mask);
        self.complete_at = None;
    }

    /// Returns whether all objects in `slots` are members. All of them must exist. `spawned` is the number of
    /// objects that were spawned so far. Costs O(1) if all objects were [found](Self::find_complete) to be
    /// members, and otherwise O(words of `slots`).
    #[inline]
    pub(super) fn include(&self, slots: &SlotSet, spawned: u64) -> bool {
        self.complete_at == Some(spawned) || self.slots.contains_all(slots)
    }

    /// Checks whether all existing objects are members, and stores the result. `spawned` is the number of
    /// objects that were spawned so far. Costs O(1) if the answer is known, and otherwise O(words of
    /// `alive`).
    pub(super) fn find_complete(&mut self, alive: &SlotSet, spawned: u64) {
        if self.complete_at != Some(spawned) && self.slots.contains_all(alive) {
            self.complete_at = Some(spawned);
        }
    }

    /// Frees the memory that the members do not need.
    pub(super) fn shrink(&mut self) {
        self.slots.shrink();
    }
}
