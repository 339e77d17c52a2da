//! Which objects the client has, and how it sees them: shows objects, hides them, and changes their views.
//!
//! *Invariant:* no packet is made with anything of an object that the client may not see when the packet is
//! made. Packets are made only in ticks, after the [decision](Copies::decide) about what the client sees.

use repl_core::{HandleSet, PropertyIndex};

use super::Copies;
use crate::body::role::Proxy;
use crate::server::cells::Group;
use crate::server::cells::area::{Position, Ring};
use crate::server::world::World;

impl Copies {
    /// Sets whether an object is hidden from the client, together with the objects that are attached to it.
    pub(crate) fn set_visible(&mut self, world: &mut World, slot: u32, visible: bool) {
        if visible {
            self.objects.unhide(slot);
        } else {
            self.objects.hide(slot);
            self.leave(world, slot);
        }
        // Subobjects that are being torn off are no longer attached, so they are added here.
        let below = world.with_subobjects(slot);
        for slot in world.cells.with_attached(slot).into_iter().chain(below) {
            self.reconsider(world, slot);
        }
    }

    /// Sets the points from which the client sees. Returns whether the cells in its sight were computed
    /// again.
    pub(crate) fn set_viewpoints(&mut self, world: &mut World, viewpoints: &[Position]) -> bool {
        if self.view().viewpoints() != viewpoints {
            self.outdate_verdicts(world);
        }
        let is_changed = self.objects.sight_mut().set_viewpoints(viewpoints, world.cells.tolerance());
        if is_changed {
            self.update_sight(world);
        }
        is_changed
    }

    /// Moves the viewpoint to the position of the followed object.
    pub(crate) fn update_followed(&mut self, world: &mut World) {
        let Some(object) = self.followed else { return };
        let position = world.store.slot_of(object).and_then(|slot| {
            let occupant = world.store.occupant(slot);
            world.store.column(occupant.class).position(occupant.row)
        });
        match position {
            Some(position) => _ = self.set_viewpoints(world, &[position]),
            None => self.followed = None,
        }
    }

    /// Sets whether the client sees the objects of a group.
    pub(crate) fn set_member(&mut self, world: &mut World, group: Group, is_member: bool) {
        if !self.objects.sight_mut().set_member(group, is_member) {
            return;
        }
        self.outdate_verdicts(world);
        if !is_member {
            for slot in self.objects.drop_last_states(group) {
                self.withdraw_blob(world, slot);
            }
        }
        self.update_sight(world);
        for slot in world.seen_by_group(group) {
            self.reconsider(world, slot);
        }
    }

    /// Lets the functions that decide what the client sees be called again, because something that they may
    /// read of the connection has changed.
    pub(crate) fn outdate_verdicts(&mut self, world: &mut World) {
        if world.functions.are_used() {
            self.objects.outdate_verdicts();
            world.functions.have_outdated = true;
        }
    }

    /// Drops the verdict of a function about an object that is removed from the server.
    pub(crate) fn forget_verdict(&mut self, slot: u32) {
        self.objects.forget_verdict(slot);
    }

    /// Returns whether the connection is in a group.
    pub(crate) fn is_member(&self, group: Group) -> bool {
        self.objects.is_in(group)
    }

    fn update_sight(&mut self, world: &mut World) {
        let World { cells, sight_scratch, .. } = world;
        let affected = self.objects.sight_mut().update(self.id, cells, sight_scratch);
        affected.into_iter().for_each(|slot| self.reconsider(world, slot));
    }

    /// Returns whether the client may have an object now.
    pub(crate) fn sees(&self, world: &World, slot: u32) -> bool {
        self.objects.sees(world, slot, self.view().ring_of(world, slot))
    }

    /// Shows a new object to the client, if the client may see it. `is_alike` says whether the object is
    /// [alike for all](World::is_alike_for_all) clients without settings of their own.
    pub(crate) fn show_newborn(&mut self, world: &mut World, slot: u32, is_alike: bool) {
        if is_alike && self.is_live && self.objects.show_newborn(world, slot) {
            world.compare_for_open(slot);
        } else {
            self.reconsider(world, slot);
        }
    }

    /// Shows an object to the client or removes it from the client. Called after a change that may decide
    /// whether the client sees the object.
    pub(crate) fn reconsider(&mut self, world: &mut World, slot: u32) {
        if !self.is_live {
            return;
        }
        let ring = self.view().ring_of(world, slot);
        if self.objects.sees(world, slot, ring) {
            self.objects.stay(slot);
            self.pend_later(world, slot);
            self.show(world, slot, ring);
        } else {
            self.leave(world, slot);
        }
    }

    /// Marks an object that the client may not see now as leaving. The next tick closes it, unless the client
    /// may see it again by then.
    fn leave(&mut self, world: &mut World, slot: u32) {
        if self.objects.leave(slot) {
            world.marks.undecided = true;
        } else {
            self.conceal(world, slot);
        }
    }

    /// Begins to remove from the client an object that the client may not see.
    fn conceal(&mut self, world: &mut World, slot: u32) {
        self.note_closing(world, slot);
        let keeping = self.view().keeping(world, slot);
        let closed = self.objects.conceal(slot, keeping, self.next);
        self.begin_close(world, slot, closed);
        let ring = self.view().ring_of(world, slot);
        let is_in_sight = ring == Some(Ring::InSight) && world.store.occupant(slot).alive;
        self.objects.set_unknown_in_sight(slot, is_in_sight);
    }

    /// Decides what the client sees in this tick: begins to remove the leaving objects, and to tell the
    /// client about owners and roles that have changed since the last tick.
    pub(crate) fn decide(&mut self, world: &mut World) {
        for slot in self.objects.take_leaving().iter() {
            self.conceal(world, slot);
        }
        for (slot, before) in self.objects.take_proxies() {
            let now = self.view().proxy(&world.store.objects[slot as usize]);
            self.objects.set_owned(slot, now.is_owner, now != before, self.next);
        }
    }

    /// Makes pending the changes of an object that far connections receive later. They may be older than
    /// pending changes, and some of their elements may have been removed or added again since. Removed
    /// elements are dropped first, so that the result does not depend on the order of merging.
    fn pend_later(&mut self, world: &World, slot: u32) {
        if !self.objects.has_arrived(slot) {
            return;
        }
        for list in world.later.waiting(slot) {
            let mut list = list.clone();
            world.store.prune(slot, &mut list);
            self.pend_due(slot, &list);
        }
    }

    /// Decides whether the client receives the shared data of an object in a ring (in sight or slightly
    /// beyond), and stores the decision. Returns `false` if the client does not receive the object, or if
    /// nothing of it was sent yet and the shared opening is still right.
    pub(crate) fn update_view(&mut self, world: &World, slot: u32, ring: Option<Ring>) -> bool {
        let is_shared = self.view().is_shared_now(world, slot, ring);
        if !is_shared && self.view().is_shared(slot) {
            // The client now has its own view of the object, for which bands delay no changes. So the changes
            // that wait are sent now.
            self.pend_later(world, slot);
        }
        if is_shared && ring != Some(Ring::InSight) {
            self.objects.open_cell(world, slot);
        }
        self.objects.set_view(slot, is_shared)
    }

    /// Begins to send the object in `slot` to the client, which may have the object already. `ring` says
    /// whether the object is in sight or only kept.
    pub(crate) fn show(&mut self, world: &mut World, slot: u32, ring: Option<Ring>) {
        self.review_distance(world, slot);
        self.update_view(world, slot, ring);
        let is_static = world.paths.is_static(slot);
        if self.objects.show(slot, self.next, is_static, world.is_newborn(slot)) {
            world.compare_for_open(slot);
            self.stir_opened(world, slot as usize / 64, 1 << (slot % 64));
        }
    }

    /// Updates what the client may see of an object if the distance between the client and the object has
    /// crossed the border for `NearOnly` properties. If the object is being torn off, nothing changes: its
    /// last state is sent as the client saw the object before.
    fn review_distance(&mut self, world: &mut World, slot: u32) {
        let is_far = self.view().is_far_now(world, slot);
        if is_far != self.view().is_far(slot) && !self.view().is_tearing_off(slot) {
            let before = self.view().mask(world, slot);
            self.objects.set_far(slot, is_far);
            self.review(world, slot, &before);
        }
    }

    /// Records that the owner or the role of an object may have changed. `before` is their state before the
    /// change.
    pub(crate) fn note_proxy(&mut self, world: &mut World, slot: u32, before: Proxy) {
        let now = self.view().proxy(&world.store.objects[slot as usize]);
        if now != before {
            self.objects.note_proxy(slot, before);
            world.marks.undecided = true;
        }
        self.objects.set_owned(slot, now.is_owner, false, self.next);
    }

    /// Handles the removal of an object from the server. Returns whether the client must still be told to
    /// remove the object.
    pub(crate) fn destroy(&mut self, world: &mut World, slot: u32) -> bool {
        self.note_closing(world, slot);
        let closed = self.objects.destroy(slot, self.next);
        self.begin_close(world, slot, closed);
        if world.paths.is_static(slot) {
            self.tell_destroyed(slot);
        }
        self.uses(slot)
    }

    /// Deletes the state of an object that the client no longer has. No packet in flight can change the state
    /// of an object that the client has removed.
    pub(crate) fn forget(&mut self, world: &mut World, slot: u32) {
        let reopen = self.objects.forget(slot);
        let is_alive = world.store.occupant(slot).alive;
        if !is_alive {
            self.objects.forget_path(slot);
        }
        self.last_rights.forget(slot);
        world.release(slot);
        if reopen && is_alive {
            let ring = self.view().ring_of(world, slot);
            self.show(world, slot, ring);
        }
    }

    /// Switches a property with a custom condition on or off only for this connection.
    pub(crate) fn switch_custom(
        &mut self,
        world: &mut World,
        slot: u32,
        property: PropertyIndex,
        active: bool,
    ) {
        let before = self.view().mask(world, slot);
        self.objects.switch(world.store.conditions(slot), slot, property, active);
        self.review(world, slot, &before);
    }

    /// Updates what this connection may see of an object, after conditions of the object have changed. The
    /// argument `before` is the mask of the properties that the connection could see before (S42).
    pub(crate) fn review(&mut self, world: &mut World, slot: u32, before: &HandleSet) {
        let ring = self.view().ring_of(world, slot);
        if !self.update_view(world, slot, ring) {
            return;
        }
        if self.objects.cancel_owed(world, slot) {
            self.withdraw_blob(world, slot);
        }
        let after = self.view().mask(world, slot);
        if *before != after {
            self.change_view(world, slot, before, &after);
        } else {
            self.review_opening(world, slot);
        }
        self.objects.update_step(slot);
    }

    /// Drops a blob (data in several parts) with the opening (first update) of an object if the connection
    /// may no longer see some of the properties in the blob. A mask for an object that the client already has
    /// never contains the properties that are only in openings, so a comparison of masks does not find them
    /// (R15).
    fn review_opening(&mut self, world: &mut World, slot: u32) {
        let Some(id) = self.objects.get(slot).and_then(|tracked| tracked.blob) else { return };
        let visible = self.objects.opening_mask(world, slot);
        if self.blobs.opens_with(id).is_some_and(|handles| !handles.is_subset(&visible)) {
            self.withdraw_blob(world, slot);
        }
    }

    fn change_view(&mut self, world: &mut World, slot: u32, before: &HandleSet, after: &HandleSet) {
        // Changes that wait for the client's band become pending, because the client has not received them.
        self.pend_later(world, slot);
        let conditions = world.store.conditions(slot);
        let properties =
            (0..world.store.column_of(slot).program().layout().properties()).map(PropertyIndex::new);
        let changed = properties.filter_map(|property| {
            let handles = conditions.handles_of(property);
            let first = handles.iter().next()?;
            let is_gained = after.contains(first);
            (before.contains(first) != is_gained).then_some((property, handles.clone(), is_gained))
        });
        let changed_at = |property| world.store.objects[slot as usize].changed_at(property);
        let Some(lacking) = self.objects.change_view(slot, world.frame, changed, changed_at) else { return };
        self.objects.add_pending(slot, &world.store.whole(slot, &lacking));
        // The old bytes of the blob would reveal values that the client may no longer see (R15).
        self.withdraw_blob(world, slot);
    }
}
