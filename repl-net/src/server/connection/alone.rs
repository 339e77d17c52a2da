//! Sends the data that is encoded separately for one connection: openings, closings, and the changes of
//! objects that are out of step.
//! An object is out of step with a client if the client lacks more of it than the changes of this tick, or
//! does not see it in the default view.
//!
//! *Invariant:* data that does not fit stays pending, so that a later pass sends it.

use repl_core::{Changelist, Portions};

use super::Connection;
use super::context::PassContext;
use super::copies::Copies;
use super::large::pruned_part;
use super::objects::Phase;

/// At most this many waiting items or entries of a collection are sent in one packet with other changes of
/// the object.
const FEW_ITEMS: usize = 64;

impl Connection {
    /// Sends everything that must be encoded separately for this connection.
    pub(super) fn send_private(&mut self, context: &mut PassContext<'_>) {
        let mut slots = std::mem::take(&mut context.scratch.slots);
        self.copies.objects.order_to_send(&mut slots);
        for &slot in &slots {
            if !self.copies.objects.must_be_sent(slot) {
                continue;
            }
            if self.copies.objects.is_pending_spawn(slot) {
                self.copies.objects.leave_spawns(slot);
            }
            if self.link.outbox.is_exhausted() {
                if context.world.changes.slots.contains(slot) {
                    self.copies.postpone(slot, context.world);
                }
                continue;
            }
            self.copies.objects.begin_sending(slot);
            self.send_object(slot, context);
        }
        context.scratch.store_slots(slots);
    }

    pub(super) fn send_object(&mut self, slot: u32, context: &mut PassContext<'_>) {
        if self.copies.objects.is_removed_plainly(slot) {
            self.send_plain_removal(slot, context);
            return;
        }
        if self.copies.waits_for_blob(slot, context.world) {
            self.copies.postpone(slot, context.world);
            return;
        }
        let tracked = self.copies.objects.get(slot);
        match tracked.map_or(Phase::Open, |tracked| tracked.phase) {
            _ if tracked.is_some_and(|tracked| tracked.blob.is_some()) => {
                self.copies.postpone(slot, context.world)
            }
            Phase::Closing(_) | Phase::Unsent if self.copies.waits_for_path(slot, context.world) => {
                self.copies.objects.must_send(slot)
            }
            Phase::Closing(_) if self.waits_for_calls(slot, context.world) => {
                self.copies.objects.close_waits(slot, context.now);
            }
            Phase::Closing(_) => self.send_close(slot, context),
            Phase::Unsent => self.send_open_with_family(slot, context),
            Phase::Opening if tracked.is_some_and(|tracked| tracked.repeats_opening()) => {
                self.send_open_with_family(slot, context)
            }
            Phase::Open if self.send_proxy(slot, context) => self.send_update(slot, context),
            Phase::Opening | Phase::Open => self.copies.postpone(slot, context.world),
        }
    }

    fn send_update(&mut self, slot: u32, context: &mut PassContext<'_>) {
        let mut list = self.gather(slot, context);
        let waiting = self.take_waiting(slot, &mut list, context);
        if !waiting.is_empty() {
            self.send_large_list(slot, list, waiting, context);
        } else if !list.is_empty() {
            self.send_list(slot, list, context);
        }
        context.scratch.maybe_in_step.push(slot);
    }

    /// Sends only this tick's changes of an object that is in step, because the client lacks nothing else.
    pub(super) fn send_fresh(&mut self, slot: u32, context: &mut PassContext<'_>) {
        if self.copies.objects.get(slot).is_some() {
            // New elements of the object are unacknowledged, and the update may have to repeat them.
            return self.send_update(slot, context);
        }
        let world = context.world;
        let Some(change) = world.changes.get(slot) else { return };
        let list =
            world.store.shared_list(change, world.store.conditions(slot), self.copies.view().is_far(slot));
        if !list.is_empty() {
            self.send_list(slot, list.into_owned(), context);
        }
    }

    /// Removes and returns the waiting changes of an object, which did not fit into packets in earlier ticks.
    /// Changes of the same collections and maps move from `list` to the waiting changes. If only a few items
    /// of a collection wait, all of its changes move to `list` instead.
    fn take_waiting(&mut self, slot: u32, list: &mut Changelist, context: &PassContext<'_>) -> Vec<Portions> {
        let mut waiting = self.copies.objects.take_waiting(slot);
        waiting.retain_mut(|portions| {
            portions.add(list);
            if portions.len() > FEW_ITEMS {
                return true;
            }
            list.merge(&pruned_part(slot, portions, portions.len(), context));
            false
        });
        waiting
    }

    /// Collects all changes of an object that the client lacks and may see, except the changes in `waiting`.
    fn gather(&mut self, slot: u32, context: &mut PassContext<'_>) -> Changelist {
        let world = context.world;
        let is_conditional = world.store.conditions(slot).is_conditional();
        let (mut list, position) = self.copies.objects.take_pending(slot);
        if is_conditional && !list.is_empty() {
            list.retain(&self.copies.objects.mask(world, slot));
        }
        let mut changed = Changelist::new();
        let unneeded = Copies::release_position(world, slot, position, Some(&mut changed));
        context.free_later(slot, unneeded);
        if position.is_none()
            && let Some(list) = world.changes.list(slot)
        {
            changed.merge(list);
        }
        if is_conditional {
            changed.retain(&self.copies.view().mask(world, slot));
        }
        if list.is_empty() {
            list = changed;
        } else {
            list.merge(&changed);
        }
        if let Some(tracked) = self.copies.objects.get(slot) {
            tracked.new_elements.extend(&mut list);
        }
        // New array elements may also wait in `later`, because the object is far from the connection. They
        // are added here: otherwise a lost change of the array would be sent again with the new length, but
        // without these elements.
        if !list.is_empty()
            && let Some(band) = self.copies.view().band_of_object(world, slot)
            && let Some(later) = world.later.lacking(band.period, slot)
        {
            list.extend_new_elements(&later.new_elements());
        }
        world.store.column_of(slot).extend_waiting(world.store.occupant(slot).row, &mut list);
        // The changelist is pruned last, because some of the added elements may have been removed from the
        // object.
        world.store.prune(slot, &mut list);
        list
    }
}
