//! Newcomers: objects on their way to a client that sees them like most, of which nothing need be known but that.
//!
//! A client that joins gets thousands at once. They cost a bit in one of two sets until their opening is acknowledged; whatever else
//! happens to one of them makes it a tracked object like others.
//!
//! Invariant: a newcomer is known, apart and not tracked; it is sent at most once, and never in a slot that this client had in use before,
//! so that what is under way of a slot tells nothing of another object.

use crate::server::tracked::Phase;
use crate::transport::slot_set::SlotSet;

/// The newcomers of a connection.
#[derive(Debug, Default)]
pub(crate) struct Newcomers {
    /// Those of which nothing was sent.
    waiting: SlotSet,
    /// Those whose opening is under way.
    opening: SlotSet,
    /// Slots that the client has had in use.
    used: SlotSet,
}

impl Newcomers {
    /// Whether nothing was sent of some.
    pub(super) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The slots of those of which nothing was sent, ascending.
    pub(super) fn waiting(&self) -> impl Iterator<Item = u32> {
        self.waiting.iter()
    }

    /// The newcomers of a word of slots of which nothing was sent.
    pub(super) fn waiting_in(&self, word: usize) -> u64 {
        self.waiting.word(word)
    }

    /// The newcomers of a word of slots.
    pub(super) fn in_word(&self, word: usize) -> u64 {
        self.waiting.word(word) | self.opening.word(word)
    }

    pub(super) fn contains(&self, slot: u32) -> bool {
        self.waiting.contains(slot) || self.opening.contains(slot)
    }

    pub(super) fn is_waiting(&self, slot: u32) -> bool {
        self.waiting.contains(slot)
    }

    /// Takes in an object that is new to the client; `false` if its slot is not.
    pub(super) fn welcome(&mut self, slot: u32) -> bool {
        let is_new = !self.used.contains(slot);
        if is_new {
            self.waiting.insert(slot);
        }
        is_new
    }

    /// Takes in the objects of a word of slots; none of them was in use.
    pub(super) fn welcome_mask(&mut self, word: usize, mask: u64) {
        debug_assert!(self.used.word(word) & mask == 0, "a slot that was in use");
        self.waiting.insert_mask(word, mask);
    }

    /// Lets an object go: how far it has come.
    pub(super) fn part(&mut self, slot: u32) -> Option<Phase> {
        if self.waiting.contains(slot) {
            self.waiting.remove(slot);
            return Some(Phase::Unsent);
        }
        let is_opening = self.opening.contains(slot);
        self.opening.remove(slot);
        is_opening.then_some(Phase::Opening)
    }

    /// The client has had the slot in use, and has not any more.
    pub(super) fn retire(&mut self, slot: u32) {
        self.part(slot);
        self.used.insert(slot);
    }

    /// Of a word of slots those that the client has not had in use.
    pub(super) fn unused_in(&self, word: usize) -> u64 {
        !self.used.word(word)
    }

    /// The openings of these objects of a word of slots are under way.
    pub(super) fn sent(&mut self, word: usize, mask: u64) {
        self.waiting.remove_mask(word, mask);
        self.opening.insert_mask(word, mask);
    }

    /// Lets those of a word of slots go whose openings arrived, and returns them.
    pub(super) fn arrived(&mut self, word: usize, mask: u64) -> u64 {
        let here = mask & self.opening.word(word);
        self.opening.remove_mask(word, here);
        here
    }
}
