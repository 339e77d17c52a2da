//! Static objects for one client: whether it knows their paths, and whether it knows that they are destroyed
//! (S200, S212).
//!
//! *Invariant:* an object with a path is opened, and closed, after the client has acknowledged the end of
//! each earlier object with the same path.

use std::sync::Arc;

use repl_link::parts::Sequence;

use super::super::context::PassContext;
use super::Copies;
use crate::body::path::StaticName;
use crate::server::world::World;

impl Copies {
    /// Returns how an opening (first update) names the object in a slot, if the object is static and has this
    /// path.
    pub(crate) fn name_of<'p>(&self, slot: u32, path: Option<&'p str>) -> Option<StaticName<&'p str>> {
        path.map(
            |path| if self.objects.knows_path(slot) { StaticName::Known } else { StaticName::Path(path) },
        )
    }

    /// Returns the path of a destroyed static object if the client does not certainly know the path. The
    /// closing then contains the path.
    pub(crate) fn path_to_close<'w>(&self, slot: u32, context: &'w PassContext<'_>) -> Option<&'w Arc<str>> {
        let world = context.world;
        let is_unknown = !world.store.occupant(slot).alive && !self.objects.knows_path(slot);
        world.paths.path(slot).filter(|_| is_unknown)
    }

    /// Returns whether an object may be neither opened nor closed yet, because the client must still close an
    /// earlier object with the same path.
    pub(crate) fn waits_for_path(&self, slot: u32, world: &World) -> bool {
        world.paths.earlier(slot).iter().any(|&earlier| self.uses(earlier))
    }

    /// Records that a packet with the opening of an object has arrived. If the object is static, the client
    /// knows its path from now on. The caller states that the opening belongs to this object.
    pub(crate) fn path_arrived(&mut self, world: &World, slot: u32) {
        if world.paths.is_static(slot) {
            self.objects.learn_path(slot);
        }
    }

    /// Does the same as [`path_arrived`](Self::path_arrived) for a packet that may have opened an earlier
    /// object in the slot.
    pub(crate) fn path_arrived_late(&mut self, world: &World, slot: u32, sequence: Sequence) {
        if world.paths.is_static(slot) && self.objects.is_since(slot, sequence) {
            self.objects.learn_path(slot);
        }
    }

    /// Begins to tell the client that a static object is destroyed, whether it has the object or not.
    pub(crate) fn tell_destroyed(&mut self, slot: u32) {
        if self.is_live {
            self.objects.close_for_good(slot, self.next);
        }
    }

    /// Begins to tell a new client which static objects are destroyed.
    pub(crate) fn tell_all_destroyed(&mut self, world: &mut World) {
        let World { paths, store, .. } = world;
        for slot in paths.destroyed() {
            store.objects[slot as usize].holders += 1;
            self.objects.close_for_joiner(slot, self.next);
        }
    }
}
