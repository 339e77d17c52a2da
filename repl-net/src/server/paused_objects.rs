//! The objects that are paused for all connections.
//!
//! *Invariant:* each object in `waiting` is paused, so the end of its pause finds every change that the pause
//! has delayed.

use crate::body::slot_set::{SlotSet, slots_of};

/// The objects that are paused for all connections. They are not compared, so their changes cost nothing
/// until the pause ends.
#[derive(Debug, Default)]
pub(crate) struct PausedObjects {
    paused: SlotSet,
    /// Paused objects that may have changed since their last comparison.
    waiting: SlotSet,
    /// Paused objects that may have changed since the last tick.
    held: Vec<u32>,
}

impl PausedObjects {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.paused.is_empty()
    }

    pub(crate) fn contains(&self, slot: u32) -> bool {
        self.paused.contains(slot)
    }

    /// Returns the paused objects among the 64 slots of a word, as a bit mask.
    pub(crate) fn word(&self, word: usize) -> u64 {
        self.paused.word(word)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> {
        self.paused.iter()
    }

    pub(crate) fn pause(&mut self, slot: u32) {
        self.paused.insert(slot);
    }

    /// Ends the pause of an object. Returns whether the object may have changed in the meantime, so that the
    /// next tick must compare it.
    pub(crate) fn resume(&mut self, slot: u32) -> bool {
        self.paused.remove(slot);
        self.waiting.take(slot)
    }

    /// Returns whether a change of an object may wait until its pause ends.
    pub(crate) fn is_waiting(&self, slot: u32) -> bool {
        self.waiting.contains(slot)
    }

    /// Lets the paused objects among the objects that are `due` wait until their pauses end. The objects in
    /// one of the sets `compared` stay due.
    pub(crate) fn hold(&mut self, due: [&mut SlotSet; 3], compared: [&SlotSet; 2]) {
        self.held.clear();
        let [one, other] = compared;
        for due in due {
            let before = self.held.len();
            let masks = due.masks_in(&self.paused);
            let masks = masks.map(|(word, mask)| (word, mask & !(one.word(word) | other.word(word))));
            self.held.extend(masks.flat_map(|(word, mask)| slots_of(word, mask)));
            for &slot in &self.held[before..] {
                due.remove(slot);
                self.waiting.insert(slot);
            }
        }
    }

    /// Returns the paused objects that may have changed since the last tick.
    pub(crate) fn held(&self) -> &[u32] {
        &self.held
    }
}
