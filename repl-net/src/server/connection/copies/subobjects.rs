//! The order in which a client receives an object and its subobjects (R22).
//!
//! *Invariant:* a subobject is not opened before the client has acknowledged its parent.

use super::Copies;
use crate::server::world::World;

impl Copies {
    /// Returns whether an object may not be opened yet, because the client will have its parent and may still
    /// lack it. An object that is torn off may be left without its parent.
    pub(crate) fn waits_for_parent(&self, slot: u32, world: &World) -> bool {
        let waits = |parent| self.objects.is_expected(parent) && !self.objects.has_arrived(parent);
        world.subobjects.parent(slot).is_some_and(waits)
    }
}
