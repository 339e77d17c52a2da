//! Begins to tear objects off from a client (S210).
//!
//! *Invariant:* an object that the client does not see now is never torn off for it.

use super::Copies;
use crate::server::world::World;

impl Copies {
    /// Begins to tear an object off, if the client sees it. If the client owns the object at this moment, it
    /// still receives calls for the owner that were made before.
    pub(crate) fn begin_tear_off(&mut self, world: &World, slot: u32) {
        if self.is_live && self.sees(world, slot) {
            let was_owner = world.store.objects[slot as usize].owner() == Some(self.id);
            self.last_rights.keep(world.store.occupant(slot).guid(slot), was_owner);
            self.objects.begin_tear_off(slot);
        }
    }
}
