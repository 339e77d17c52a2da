//! What the client has seen, as far as its acks tell.
//!
//! *Invariant:* without the configuration that wants it, nothing is recorded.

use repl_core::Guid;
use repl_link::parts::Sequence;

use super::Copies;
use crate::body::contents::Cohort;
use crate::body::slot_set::slots_of;
use crate::server::world::World;

impl Copies {
    /// Records which objects of `closed` the client has removed, if the configuration wants this.
    pub(super) fn note_removals(&mut self, world: &World, sequence: Sequence, closed: Cohort) {
        if !self.recent_removals.is_wanted() {
            return;
        }
        self.recent_removals.expire(world.frame);
        for slot in slots_of(closed.word, world.store.still_there(closed)) {
            if self.objects.is_closing(slot, sequence) || self.objects.is_removed_plainly(slot) {
                self.recent_removals.add(world.frame, Guid::new(slot, closed.generation));
            }
        }
    }

    /// Returns whether the client has an object, or has removed it recently, as far as its acks tell.
    pub(crate) fn has_seen(&self, world: &World, object: Guid) -> bool {
        let (slot, generation) = (object.slot(), object.generation());
        let removals = &self.recent_removals;
        let is_leaving =
            removals.is_wanted() && self.objects.is_closed_unacked(slot) && !removals.is_unopened(object);
        self.is_current(world, slot, generation) && (self.objects.has_arrived(slot) || is_leaving)
            || removals.contains(world.frame, object)
    }

    /// Records that an object is closed from now on, if somebody asks later what the client has seen.
    pub(crate) fn note_closing(&mut self, world: &World, slot: u32) {
        let objects = &self.objects;
        if self.recent_removals.is_wanted()
            && objects.is_known(slot)
            && !(objects.has_arrived(slot) || objects.is_closed_unacked(slot))
        {
            self.recent_removals.add_unopened(world.store.occupant(slot).guid(slot));
        }
    }

    /// Records that the client has the objects of `opened`, if somebody asks later what it has seen.
    pub(super) fn note_openings(&mut self, world: &World, opened: Cohort) {
        if self.recent_removals.is_wanted() {
            let slots = slots_of(opened.word, world.store.still_there(opened));
            slots.for_each(|slot| self.recent_removals.opened(Guid::new(slot, opened.generation)));
        }
    }
}
