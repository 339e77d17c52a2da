//! Objects that the server has torn off: how they leave their slots, and how the user removes them (S210).
//!
//! *Invariant:* an object that was torn off is in no slot, so no packet changes it.

use repl_core::{Guid, ObjectRef};

use super::Replicas;
use crate::body::removal::CloseReason;
use crate::session::client_events::ClientEvents;
use crate::session::events::ClientEvent;

impl Replicas {
    /// Takes the object in a slot out of its slot, because the server has torn it off. References to the
    /// object stay valid. Returns the guid by which the user knows it, or `None` if the slot is empty.
    pub(super) fn tear_off(&mut self, slot: u32) -> Option<Guid> {
        let (class, row) = self.slots.class_and_row(slot)?;
        let known = self.slots.known(Guid::new(slot, self.slots.generation(slot)?));
        if let Some(moved) = self.columns.get_mut(class as usize)?.tear_off(row, known) {
            self.slots.set_row(moved, row);
        }
        self.slots.close(slot, false);
        self.mentions.remove_object(slot);
        self.paths.remove(slot);
        self.slots.torn_off.insert(known, class);
        if let Some(feed) = self.feeds.get_mut(&class) {
            feed.tear_off(slot, known);
        }
        Some(known)
    }

    /// Removes the oldest objects that were torn off, so that at most `most` are left.
    pub(super) fn remove_torn_off_beyond(&mut self, most: usize, events: &mut ClientEvents) {
        while self.slots.torn_off.len() > most
            && let Some(guid) = self.slots.torn_off.oldest()
        {
            self.depart_torn_off(guid);
            events.push(ClientEvent::Despawned(ObjectRef::new(guid), CloseReason::Destroyed));
        }
    }

    /// Removes an object that was torn off. The user can read it until an event has reported its removal.
    fn depart_torn_off(&mut self, guid: Guid) -> bool {
        let Some(class) = self.slots.torn_off.remove(guid) else { return false };
        if let Some(column) = self.columns.get_mut(class as usize) {
            column.remove_torn_off(guid);
        }
        self.departed.insert(guid, class);
        if let Some(feed) = self.feeds.get_mut(&class) {
            feed.forget_torn_off(guid);
        }
        self.created_or_removed.extend(self.slots.epoch.to_wire(guid));
        true
    }

    /// Removes an object that was torn off, because the user no longer needs it. References to it become
    /// null, and notifies for this run. Returns `false` if the object was not torn off.
    pub(crate) fn release_torn_off(&mut self, object: ObjectRef<()>) -> bool {
        let is_removed = object.guid().is_some_and(|guid| self.depart_torn_off(guid));
        if is_removed {
            self.release(object);
            self.finish();
        }
        is_removed
    }
}
