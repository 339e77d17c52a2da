//! Pauses objects for one client.
//!
//! *Invariant:* a client that has a paused object keeps it. A client that was sent nothing of it does not see
//! it before the pause ends.

use super::Copies;
use crate::server::world::World;

impl Copies {
    /// Pauses an object for this client alone, or ends this pause.
    pub(crate) fn set_paused(&mut self, world: &mut World, slot: u32, paused: bool) {
        if self.objects.set_paused(slot, paused) {
            self.review_pause(world, slot);
        }
    }

    /// Updates how the client sees an object after it was paused or its pause has ended.
    pub(crate) fn review_pause(&mut self, world: &mut World, slot: u32) {
        let mask = self.view().mask(world, slot);
        self.review(world, slot, &mask);
        if !self.view().is_paused(world, slot) {
            self.objects.release(slot);
        }
        for slot in world.cells.with_attached(slot) {
            self.reconsider(world, slot);
        }
    }

    /// Pauses a new subobject for this client, if its parent is paused for this client.
    pub(crate) fn pause_with_parent(&mut self, slot: u32, parent: u32) {
        if self.view().is_paused_here(parent) {
            self.objects.set_paused(slot, true);
        }
    }
}
