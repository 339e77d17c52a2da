//! Objects that the server has torn off: they are removed from their slots, and kept until the user removes
//! them (S210).
//!
//! *Invariant:* an object that was torn off is not in a slot, so no packet can change it.

use repl_core::{Guid, ObjectRef};

use super::Replicas;
use crate::body::removal::CloseReason;
use crate::updates::update::UpdateKind;

impl Replicas {
    /// Removes an object from its slot, because the server has torn it off. The object is kept, and
    /// references to it remain valid.
    pub(super) fn tear_off(&mut self, slot: u32) {
        let (Some((class, row)), Some(known)) = (self.slots.class_and_row(slot), self.slots.known_in(slot))
        else {
            return;
        };
        self.detach(slot, (class, row), known, UpdateKind::TornOff);
        self.slots.close(slot, false);
        self.slots.torn_off.insert(known, class);
    }

    /// Removes an object from its row, and reports it as `what`. The caller then removes it from its slot.
    pub(super) fn detach(&mut self, slot: u32, (class, row): (u16, u32), known: Guid, what: UpdateKind) {
        let Some(column) = self.columns.get_mut(class as usize) else { return };
        if let Some(moved) = column.detach(row, known) {
            self.slots.set_row(moved, row);
        }
        self.updates.push(ObjectRef::new(known), what, column.program());
        self.mentions.remove_object(slot);
        self.kept_bases.remove(slot);
        self.paths.remove(slot);
    }

    /// Removes the oldest objects that were torn off, so that at most `most` remain.
    pub(super) fn remove_torn_off_beyond(&mut self, most: usize) {
        while self.slots.torn_off.len() > most
            && let Some(guid) = self.slots.torn_off.oldest()
        {
            let class = self.depart_torn_off(guid);
            if let Some(column) = class.and_then(|class| self.columns.get(class as usize)) {
                let what = UpdateKind::Despawned(CloseReason::Destroyed);
                self.updates.push(ObjectRef::new(guid), what, column.program());
            }
        }
    }

    /// Removes an object that was torn off, and returns its class. The user can read the object until an
    /// update has reported its removal. Returns `None` if the object was not torn off.
    fn depart_torn_off(&mut self, guid: Guid) -> Option<u16> {
        let class = self.slots.torn_off.remove(guid)?;
        if let Some(column) = self.columns.get_mut(class as usize) {
            column.remove_detached(guid);
        }
        self.depart((guid, class), None);
        self.created_or_removed.extend(self.slots.epoch.to_wire(guid));
        Some(class)
    }

    /// Removes an object that was torn off, because the user has asked for it. References to the object
    /// become null, and the notifies of the changed properties run. Returns `false` if the object was not
    /// torn off.
    pub(crate) fn release_torn_off(&mut self, object: ObjectRef<()>) -> bool {
        let is_removed = object.guid().and_then(|guid| self.depart_torn_off(guid)).is_some();
        if is_removed {
            self.release(object);
            self.begin_updates(None);
            self.finish();
            self.end_updates();
        }
        is_removed
    }
}
