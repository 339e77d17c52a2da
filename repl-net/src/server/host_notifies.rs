//! The notifies of the host, if it asks for them: a comparison that finds a change calls the notify of the
//! property on the object of the server.
//!
//! *Invariant:* a notify receives the values that clients had before.

use std::collections::BTreeMap;

use super::old_values::OldValues;
use super::world::World;

/// The old values for the notifies of the host.
#[derive(Default)]
pub(crate) struct HostNotifies {
    /// The old values of each object whose class has notifies, by slot.
    old: BTreeMap<u32, OldValues>,
    /// Whether a tick has stored the old values of the objects that existed before the host.
    has_begun: bool,
}

impl HostNotifies {
    pub(super) fn removed(&mut self, slot: u32) {
        self.old.remove(&slot);
    }

    /// Calls the notifies for the changes that a tick has found, then stores the new values as the old values
    /// of the next call.
    pub(super) fn call(&mut self, world: &mut World) {
        if std::mem::replace(&mut self.has_begun, true) {
            world.notify(&mut self.old);
            self.old.extend(world.old_values(&world.changes.newborn));
        } else {
            self.old.extend(world.old_values(&world.store.alive));
        }
    }
}
