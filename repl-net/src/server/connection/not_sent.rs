//! Finds the reason why nothing of an object is sent to one client.
//!
//! *Invariant:* the answer is for diagnosis and changes nothing.

use repl_core::{HandleSet, ViewFlags};
use repl_link::ConnectionId;

use super::Connection;
use crate::server::cells::Relevancy;
use crate::server::cells::rule::Rule;
use crate::server::not_sent::NotSent;
use crate::server::world::World;

/// Returns whether the connection exists and has not ended.
type IsOpen<'a> = &'a dyn Fn(ConnectionId) -> bool;

impl Connection {
    /// Returns why nothing of an object is sent to this client now, or `None` if the connection has sent
    /// everything that the last tick has found.
    pub(crate) fn why_not_sent(&self, world: &World, slot: u32, is_open: IsOpen<'_>) -> Option<NotSent> {
        if !self.copies.is_live {
            return Some(NotSent::NotConnected);
        }
        if !self.copies.sees(world, slot) {
            return Some(self.why_not_seen(world, slot, is_open));
        }
        if self.copies.view().is_paused(world, slot) {
            return Some(NotSent::ObjectPaused);
        }
        if self.is_paused() {
            return Some(NotSent::Paused);
        }
        let waits_for_another =
            || self.copies.waits_for_parent(slot, world) || self.copies.waits_for_path(slot, world);
        if self.copies.objects.is_unsent(slot) && waits_for_another() {
            return Some(NotSent::Unacknowledged);
        }
        match self.copies.objects.why_not_sent(slot) {
            // No limit delays the object: it became due after the data of this tick was sent.
            Some(NotSent::Budget) if self.waiting_objects() == 0 => Some(NotSent::NextTick),
            None if self.has_later_changes(world, slot) => Some(NotSent::Band),
            reason => reason,
        }
    }

    fn why_not_seen(&self, world: &World, slot: u32, is_open: IsOpen<'_>) -> NotSent {
        let view = self.copies.view();
        if view.is_hidden(world, slot) {
            return NotSent::Hidden;
        }
        let carriers = || world.cells.carriers(slot);
        if carriers().any(|carrier| view.is_paused(world, carrier)) {
            return NotSent::ObjectPaused;
        }
        if carriers().any(|carrier| world.dormancies.is_initial(carrier)) {
            return NotSent::Asleep;
        }
        let has_owner = |slot: u32| world.store.objects[slot as usize].owner().is_some_and(is_open);
        if let Some(narrow) = carriers().find(|&carrier| !view.is_in_audience(world, carrier)) {
            if let Some(lacking) = world.audiences.get(&narrow).and_then(|by| view.lacking(world, narrow, by))
            {
                return NotSent::Combination(lacking);
            }
            let is_for_owner = world.audiences.get(&narrow) == Some(&Relevancy::OwnerOnly);
            return if is_for_owner && !has_owner(narrow) {
                NotSent::NoOwner
            } else {
                NotSent::NotInAudience
            };
        }
        let top = carriers().last().unwrap_or(slot);
        let combination = world.cells.combination(world.cells.rule(top));
        let is_far = |lacking: &Relevancy| *lacking == Relevancy::Located;
        match (world.cells.rule(top), combination.and_then(|by| view.lacking(world, top, by))) {
            (_, Some(lacking)) if !is_far(&lacking) => NotSent::Combination(lacking),
            (Rule::Group(_), _) => NotSent::NotInGroup,
            (Rule::Located, _) | (_, Some(_)) if !view.has_viewpoints() => NotSent::NoViewpoints,
            (Rule::Located, _) | (_, Some(_)) => NotSent::OutOfSight,
            (Rule::OwnerOnly, _) if !carriers().any(has_owner) => NotSent::NoOwner,
            _ => NotSent::Irrelevant,
        }
    }

    /// Returns why the last tick has found no more changes of an object for this client. Must be called only
    /// if no change that was found still waits to be sent.
    pub(crate) fn why_not_noticed(&self, world: &World, slot: u32, is_open: IsOpen<'_>) -> NotSent {
        let object = &world.store.objects[slot as usize];
        let seen = self.copies.view().mask(world, slot);
        if self.lacks_by_distance(world, slot) {
            NotSent::Far
        } else if object.refuses_any_of(&seen) {
            NotSent::Refused
        } else if world.unmarked(slot).intersects(&seen) {
            NotSent::Unmarked
        } else if world.was_not_handed_over(slot) {
            NotSent::NotCompared
        } else if !object.owner().is_some_and(is_open)
            && of_owner(world, slot, &seen).intersects(object.history.ever())
        {
            NotSent::NoOwner
        } else {
            NotSent::NothingChanged
        }
    }

    /// Returns whether changes of an object wait that the client receives later, because the connection is
    /// far from the object.
    fn has_later_changes(&self, world: &World, slot: u32) -> bool {
        let band = self.copies.view().band_of_object(world, slot);
        band.is_some_and(|band| world.later.is_waiting(band.period, slot))
    }

    /// Returns whether the client lacks values of an object because it is far from the object.
    pub(crate) fn lacks_by_distance(&self, world: &World, slot: u32) -> bool {
        let (object, conditions) = (&world.store.objects[slot as usize], world.store.conditions(slot));
        let lacks =
            |property| object.changed_at(property) > Some(self.copies.objects.left_at(slot, property));
        let hidden =
            self.copies.view().is_far(slot).then(|| self.copies.view().hidden_by_distance(world, slot));
        hidden.is_some_and(|hidden| {
            hidden.iter().filter_map(|handle| conditions.property_of(handle)).any(lacks)
        })
    }
}

/// Returns the properties of an object that only its owner receives, without the properties in `seen`.
fn of_owner(world: &World, slot: u32, seen: &HandleSet) -> HandleSet {
    let (object, conditions) = (&world.store.objects[slot as usize], world.store.conditions(slot));
    let mut of_owner = object.mask(conditions, object.flags(true, false), None).into_owned();
    of_owner.difference(&object.mask(conditions, object.common_flags().with(ViewFlags::INITIAL), None));
    of_owner.difference(seen);
    of_owner
}
