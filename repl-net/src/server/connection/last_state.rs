//! Ends an object for one client, when it is removed from the server.
//!
//! *Invariant:* the closing of an object contains all values that the client may lack and may see.

use repl_core::Changelist;

use super::Connection;
use super::objects::LastLack;
use crate::body::losses::in_flight_of;
use crate::server::last_state::{LastChanges, LastFamily};
use crate::server::world::World;

impl Connection {
    /// Handles the removal of an object and its subobjects from the server, before they are removed. Counts
    /// the connection as a holder of each object that the client must still be told to remove.
    pub(crate) fn destroy(&mut self, world: &mut World, family: &mut LastFamily) {
        for &slot in family.slots.iter().rev() {
            self.end_calls(world, slot);
            self.copies.note_closing(world, slot);
        }
        if self.may_remove_plainly(family) && self.copies.objects.remove_plainly(&family.slots) {
            return family.objects.iter_mut().for_each(|last| last.holders += 1);
        }
        for last in family.objects.iter_mut().rev() {
            last.holders += u32::from(self.destroy_one(world, last));
        }
    }

    /// Returns whether only plain closings must be sent for a family (an object with its subobjects): no last
    /// state, no path, and no calls before.
    fn may_remove_plainly(&self, family: &LastFamily) -> bool {
        let has_calls = |slot| self.calls.are_left(slot, &self.link.exchange.outgoing);
        family.objects.iter().all(|last| last.is_plain && !has_calls(last.slot))
            && !family.leaving.iter().any(|&slot| self.copies.uses(slot))
    }

    /// Begins to remove an object from the client. Returns whether the client must still be told of the
    /// removal.
    fn destroy_one(&mut self, world: &mut World, last: &mut LastChanges) -> bool {
        let slot = last.slot;
        let lacking = self.last_changes(world, slot, last);
        let state = lacking.and_then(|list| last.encode(world, list));
        let is_owner = state.is_some() && self.copies.view().is_owner_of_any(world, slot);
        let is_used = self.copies.destroy(world, slot);
        if is_used && let Some(state) = state {
            self.assets.need(state.named_assets(), &world.store.assets);
            self.copies.objects.keep_last_state(slot, state, is_owner);
        }
        is_used
    }

    /// Returns the changes of an object that the client may lack and may see. The object is about to be
    /// removed.
    fn last_changes(&self, world: &World, slot: u32, last: &LastChanges) -> Option<Changelist> {
        let mask = || self.copies.objects.mask(world, slot);
        // The client may lack values that a condition has hidden, even if they have not changed since.
        let is_conditional = world.store.conditions(slot).is_conditional();
        let mut list = match self.copies.objects.last_lack(slot, last.has_changed, is_conditional) {
            LastLack::Nothing => return None,
            LastLack::Everything => {
                let mut handles = world.store.objects[slot as usize].history.ever().clone();
                handles.union(&self.copies.objects.left_out(slot));
                for list in self.unacknowledged(world, slot) {
                    handles.union(list.handles());
                }
                handles.intersect(&mask());
                world.store.whole(slot, &handles)
            }
            LastLack::Changes => {
                let mut lists = self.unacknowledged(world, slot);
                lists.push(last.changes.clone());
                let mut list = Changelist::merged(lists);
                list.retain(&mask());
                list.forget_resets();
                list
            }
        };
        world.store.prune(slot, &mut list);
        (!list.is_empty()).then_some(list)
    }

    /// Returns the changes of an object that the client has not acknowledged, the oldest first.
    fn unacknowledged(&self, world: &World, slot: u32) -> Vec<Changelist> {
        let in_flight = &self.link.outbox.in_flight;
        let mut lists: Vec<Changelist> = world.later.waiting(slot).cloned().collect();
        if let Some((_, oldest)) = in_flight.unknown().next() {
            // Packets in flight contain shared data of this object only if it changed after the oldest of
            // them was sent, or if bands delay changes. Lost changes are sent again at any time, but not in
            // shared data.
            let may_be_shared =
                world.cells.have_bands() || world.changes.may_have_changed_since(slot, oldest);
            let generation = world.store.occupant(slot).generation;
            lists.extend(in_flight_of(in_flight, slot, generation, may_be_shared));
        }
        lists
    }
}
