//! Objects that are paused for a client: nothing of them is sent, except their closings.
//!
//! *Invariant:* the client does not receive the shared data of a paused object, so the object is out of step.
//! What the client lacks of it is pending, or in its history.

use super::ObjectStates;
use crate::body::slot_set::slots_of;
use crate::server::world::World;

impl ObjectStates {
    /// Pauses an object for this client alone, or ends this pause. Returns whether this is a change.
    pub(crate) fn set_paused(&mut self, slot: u32, paused: bool) -> bool {
        let is_change = self.view.is_paused_here(slot) != paused;
        if is_change {
            self.view.set_paused(slot, paused);
        }
        is_change
    }

    /// Returns the paused objects of which something must be sent, except those that the client must remove.
    pub(crate) fn paused_to_send(&self, world: &World) -> Vec<u32> {
        if !self.view.has_pauses(world) {
            return Vec::new();
        }
        let waiting = self.standings.to_send().masks();
        let paused = waiting.map(|(word, mask)| (word, mask & self.view.paused_in(world, word)));
        paused
            .flat_map(|(word, mask)| slots_of(word, mask))
            .filter(|&slot| !self.is_closed_unacked(slot))
            .collect()
    }

    /// Records that nothing of an object is sent before its pause ends. The caller has postponed its changes.
    pub(crate) fn hold(&mut self, slot: u32) {
        self.standings.begin_sending(slot);
    }

    /// Sends what the client lacks of an object, because its pause has ended.
    pub(crate) fn release(&mut self, slot: u32) {
        let is_held = self.tracked.get(slot).is_some_and(|tracked| !tracked.is_closing());
        if is_held && !self.is_in_step(slot) {
            self.must_send(slot);
        }
    }
}
