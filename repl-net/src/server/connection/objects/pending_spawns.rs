//! Pending spawns: objects with the default view that are being sent to a client for the first time.
//!
//! A client that joins receives thousands of objects at the same time. Each pending spawn takes one bit of
//! memory in one of two sets until its opening is acknowledged. If anything else happens to a pending spawn,
//! it becomes a tracked object.
//!
//! *Invariant:* a pending spawn is sent at most once. A packet in flight about the slot of a pending spawn
//! never belongs to another object.

use super::tracked::Phase;
use crate::body::sparse_slots::SparseSlots;

/// The pending spawns of a connection.
#[derive(Debug, Default)]
pub(super) struct PendingSpawns {
    /// Pending spawns that were not sent yet.
    pub(super) unsent: SparseSlots,
    /// Pending spawns whose opening is in flight.
    opening: SparseSlots,
    /// Slots in which the client has had an object before, of which a packet may be in flight.
    pub(super) used: SparseSlots,
}

impl PendingSpawns {
    /// Returns the pending spawns in a word, as a mask.
    pub(super) fn in_word(&self, word: usize) -> u64 {
        self.unsent.word(word) | self.opening.word(word)
    }

    pub(super) fn contains(&self, slot: u32) -> bool {
        self.unsent.contains(slot) || self.opening.contains(slot)
    }

    /// Adds an object that is new to the client as a pending spawn. `add` returns `false` if the client has
    /// had another object in the same slot before, of which a packet may be in flight.
    pub(super) fn add(&mut self, slot: u32) -> bool {
        let is_new = !self.used.contains(slot);
        if is_new {
            self.unsent.insert(slot);
        }
        is_new
    }

    /// Adds the objects of `mask` as pending spawns. The client must not have had an object in any slot of
    /// `mask` before.
    pub(super) fn add_mask(&mut self, word: usize, mask: u64) {
        debug_assert!(self.used.word(word) & mask == 0, "a slot that was in use");
        self.unsent.insert_mask(word, mask);
    }

    /// Removes an object from the pending spawns, and returns its phase if it was a pending spawn.
    pub(super) fn remove(&mut self, slot: u32) -> Option<Phase> {
        if self.unsent.contains(slot) {
            self.unsent.remove(slot);
            return Some(Phase::Unsent);
        }
        let is_opening = self.opening.contains(slot);
        self.opening.remove(slot);
        is_opening.then_some(Phase::Opening)
    }

    /// Records that the client has had an object in this slot, which it has removed.
    pub(super) fn retire(&mut self, slot: u32) {
        self.remove(slot);
        self.used.insert(slot);
    }

    /// Forgets in which slots the client has had objects before, because no packet is in flight and no late
    /// ack has an effect any more. Frees the memory.
    pub(super) fn forget_used(&mut self) {
        self.used = SparseSlots::default();
    }

    /// Records that the openings of pending spawns were sent.
    pub(super) fn sent(&mut self, word: usize, mask: u64) {
        self.unsent.remove_mask(word, mask);
        self.opening.insert_mask(word, mask);
    }

    /// Frees memory that was not needed recently.
    pub(super) fn end_round(&mut self) {
        [&mut self.unsent, &mut self.opening, &mut self.used].into_iter().for_each(SparseSlots::shrink);
    }

    /// Removes the pending spawns whose openings have arrived, in a word, and returns them.
    pub(super) fn arrived(&mut self, word: usize, mask: u64) -> u64 {
        let here = mask & self.opening.word(word);
        self.opening.remove_mask(word, here);
        here
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r17_slots_of_earlier_objects_are_used_by_pending_spawns_only_when_nothing_is_in_flight() {
        let mut spawns = PendingSpawns::default();
        assert!(spawns.add(3));
        spawns.retire(3);
        assert!(!spawns.add(3) && !spawns.contains(3));
        spawns.forget_used();
        assert!(spawns.add(3) && spawns.contains(3));
    }
}
