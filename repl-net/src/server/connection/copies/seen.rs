//! The objects that the client has seen, as far as its acks show.
//!
//! *Invariant:* nothing is recorded unless the configuration asks for it.

use repl_core::Guid;
use repl_link::parts::Sequence;

use super::Copies;
use crate::body::contents::Cohort;
use crate::body::slot_set::slots_of;
use crate::server::world::World;

impl Copies {
    /// Returns whether the client has an object, or has removed it recently, as far as its acks show.
    pub(crate) fn has_seen(&self, world: &World, object: Guid) -> bool {
        let (slot, generation) = (object.slot(), object.generation());
        let removals = self.recent_removals.as_ref();
        let is_leaving = self.objects.is_closed_unacked(slot)
            && removals.is_some_and(|removals| !removals.is_unopened(object));
        self.is_current(world, slot, generation) && (self.objects.has_arrived(slot) || is_leaving)
            || removals.is_some_and(|removals| removals.contains(world.frame, object))
    }

    /// Records which objects of `closed` the client has removed.
    pub(super) fn note_removals(&mut self, world: &World, sequence: Sequence, closed: Cohort) {
        let Some(removals) = &mut self.recent_removals else { return };
        removals.expire(world.frame);
        for slot in slots_of(closed.word, world.store.still_there(closed)) {
            if self.objects.is_closing(slot, sequence) || self.objects.is_removed_plainly(slot) {
                removals.add(world.frame, Guid::new(slot, closed.generation));
            }
        }
    }

    pub(crate) fn note_closing(&mut self, world: &World, slot: u32) {
        let (objects, Some(removals)) = (&self.objects, &mut self.recent_removals) else { return };
        if objects.is_known(slot) && !objects.has_arrived(slot) && !objects.is_closed_unacked(slot) {
            removals.add_unopened(world.store.occupant(slot).guid(slot));
        }
    }

    /// Records that the client has the objects of `opened`.
    pub(super) fn note_openings(&mut self, world: &World, opened: Cohort) {
        let Some(removals) = &mut self.recent_removals else { return };
        for slot in slots_of(opened.word, world.store.still_there(opened)) {
            removals.opened(Guid::new(slot, opened.generation));
        }
    }
}
