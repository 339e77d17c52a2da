//! Handles the changes of an object that a client still lacks: they are postponed (only in the history of the
//! object), become pending (stored for this client), or are no longer needed.
//!
//! *Invariant:* a connection has a position in the history of an object as long as its client lacks changes
//! that are stored only in this history.

use repl_core::Changelist;

use super::super::objects::Closed;
use super::Copies;
use super::bases::Carrier;
use crate::body::contents::Content;
use crate::server::world::{Unneeded, World};

impl Copies {
    /// Postpones the changes of this tick of an object: stores the connection's position in the history of
    /// the object, if the client has or receives the object.
    pub(crate) fn postpone(&mut self, slot: u32, world: &World) {
        if self.objects.is_behind(slot) {
            self.objects.must_send(slot);
            return;
        }
        if !self.objects.takes_changes(slot) {
            return;
        }
        let mut changed = world.changes.list(slot).cloned().unwrap_or_default();
        if world.store.conditions(slot).is_conditional() {
            changed.retain(&self.view().mask(world, slot));
        }
        let object = &world.store.objects[slot as usize];
        self.objects.fall_behind(slot, object.history.end(), changed);
        object.add_laggard();
    }

    /// Makes pending the changes of earlier ticks that this connection did not receive yet, because it has a
    /// long period for the cell of the object. A connection with its own view of the object has received
    /// these changes already.
    pub(crate) fn pend_due(&mut self, slot: u32, list: &Changelist) {
        if self.objects.has_arrived(slot) && self.view().is_shared(slot) {
            self.objects.add_pending(slot, list);
            self.objects.must_send(slot);
        }
    }

    /// Makes the changes of a changelist pending if they may still be sent to the client. For the other
    /// properties, records that the client lacks their values, so that they are sent when the client may see
    /// them again.
    pub(crate) fn make_pending(&mut self, world: &World, slot: u32, mut list: Changelist) {
        // The client has the object, so its collections may contain items. Therefore the lost changelist must
        // not empty the client's collections again.
        list.forget_resets();
        let mut hidden = Changelist::new();
        list.split(&self.objects.mask(world, slot), &mut hidden);
        let unseen =
            hidden.handles().iter().filter_map(|handle| world.store.conditions(slot).property_of(handle));
        world.store.prune(slot, &mut list);
        self.objects.return_to_pending(slot, list, unseen, |pending| world.store.prune(slot, pending));
    }

    /// Returns whether a blob (data in several parts) of the object is in flight.
    pub(crate) fn has_blob(&self, slot: u32) -> bool {
        self.objects.get(slot).is_some_and(|tracked| tracked.blob.is_some())
    }

    /// Returns whether an object waits only until its blob can begin, and the blob still has no room. If so,
    /// the caller writes nothing of the object.
    pub(crate) fn waits_for_blob(&mut self, slot: u32, world: &World) -> bool {
        let is_unchanged = !world.changes.slots.contains(slot);
        let bytes = self.objects.take_waiting_blob(slot, is_unchanged);
        let waits = bytes.filter(|&bytes| !self.blobs.has_room(bytes, world.store.limits.max_object_bytes));
        waits.into_iter().for_each(|bytes| self.objects.wait_for_blob(slot, bytes));
        waits.is_some()
    }

    /// Stops sending the blob with an update of an object, if there is one. Afterwards, the content of the
    /// blob is pending, or the object counts as unsent.
    pub(crate) fn withdraw_blob(&mut self, world: &mut World, slot: u32) {
        let blob = self.objects.take_blob(slot).and_then(|id| self.blobs.abandon(id));
        if let Some(blob) = &blob {
            self.bases.lost(Carrier::Blob(blob.id), &world.revisions);
        }
        let Some(content) = blob.map(|blob| blob.sent.content) else { return };
        match content {
            Content::Open(_) if self.objects.opening_withdrawn(slot) => world.compare_for_open(slot),
            Content::Open(list) | Content::Update(list) => self.make_pending(world, slot, list),
            Content::Proxy | Content::Fragment { .. } | Content::Close => {}
        }
    }

    /// Begins to remove an object from the client, and frees the parts of it that the connection no longer
    /// needs.
    pub(crate) fn begin_close(&mut self, world: &mut World, slot: u32, closed: Option<Closed>) {
        if !world.subobjects.is_alone(slot) {
            let family = world.subobjects.with_descendants(slot);
            family.into_iter().for_each(|slot| self.objects.remove_with_family(slot, self.next));
        }
        let unneeded = closed.map(|closed| self.stop_sending(world, slot, closed));
        unneeded.into_iter().flatten().for_each(|what| world.free(slot, what));
    }

    /// Releases the connection's position in the history of an object that is being closed, and stops sending
    /// the blob with this object. Returns the parts of the object that are no longer needed.
    pub(crate) fn stop_sending(
        &mut self,
        world: &World,
        slot: u32,
        closed: Closed,
    ) -> impl Iterator<Item = Unneeded> + use<> {
        let Closed { position, blob, is_forgotten } = closed;
        self.bases.forget(slot, &world.revisions);
        if let Some(blob) = blob {
            self.blobs.abandon(blob);
        }
        let history = Self::release_position(world, slot, position, None);
        history.into_iter().chain(is_forgotten.then_some(Unneeded::Slot))
    }

    /// Releases the connection's `position` in the history of an object, if the connection has one. If
    /// `missed` is given, adds to it the changes that the connection has not sent yet. If this was the last
    /// connection with a position in the history of the object, returns that the history is not needed.
    pub(crate) fn release_position(
        world: &World,
        slot: u32,
        position: Option<u64>,
        missed: Option<&mut Changelist>,
    ) -> Option<Unneeded> {
        let (position, object) = (position?, &world.store.objects[slot as usize]);
        if let Some(missed) = missed {
            object.history.gather(position, missed);
        }
        object.remove_laggard().then_some(Unneeded::History)
    }
}
