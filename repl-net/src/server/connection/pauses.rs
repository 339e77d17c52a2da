//! Pauses of a connection: times in which no state is sent, because the user asked for it or because other
//! connections have their turns (S193).
//!
//! *Invariant:* in a pause each change is in the history of its object or pending, so after the pause the
//! client receives what it lacks, merged by object. The memory for it does not grow with the length of the
//! pause (R10).

use std::time::Duration;

use super::Connection;
use super::backlog::Pause;
use super::context::PassContext;
use crate::server::not_sent::NotSent;
use crate::server::world::World;

impl Connection {
    /// Returns whether the user has paused the connection.
    pub(crate) fn is_paused(&self) -> bool {
        self.backlog.as_ref().is_some_and(|backlog| backlog.pause.is_paused)
    }

    /// Begins a pause.
    pub(crate) fn pause(&mut self) {
        self.backlog_mut().pause.is_paused = true;
    }

    /// Ends a pause, if there is one.
    pub(crate) fn resume(&mut self, now: Duration) {
        if self.is_paused() {
            self.backlog_mut().pause = Pause { is_paused: false, ended_at: now };
        }
    }

    /// Returns whether the connection has not been paused since the time `start`.
    pub(super) fn has_run_since(&self, start: Duration) -> bool {
        self.backlog.as_ref().is_none_or(|backlog| {
            let pause = backlog.pause;
            !pause.is_paused && pause.ended_at <= start
        })
    }

    /// Passes a tick in which it is not this connection's turn. Nothing is sent, and the changes of the tick
    /// are postponed.
    pub(crate) fn skip_pass(&mut self, context: &mut PassContext<'_>) {
        if !self.is_live {
            return;
        }
        self.take_evicted(context);
        self.objects.rouse_changed(&context.world.dormancies);
        self.postpone_all(context);
        self.backlog_mut().waiting = self.objects.waiting_count();
    }

    /// Returns why nothing of an object is sent to this client now, or `None` if the connection has sent
    /// everything that the last tick has found.
    pub(crate) fn why_not_sent(&self, world: &World, slot: u32) -> Option<NotSent> {
        if !self.is_live {
            return Some(NotSent::NotConnected);
        }
        if !self.sees(world, slot) {
            let is_hidden = self.view().is_hidden(world, slot);
            return Some(match is_hidden {
                true => NotSent::Hidden,
                false if world.cells.carriers(slot).any(|slot| world.dormancies.is_initial(slot)) => {
                    NotSent::Asleep
                }
                false => NotSent::Irrelevant,
            });
        }
        if self.is_paused() {
            return Some(NotSent::Paused);
        }
        match self.objects.why_not_sent(slot) {
            // No limit holds it back: it became due after everything of this tick was sent.
            Some(NotSent::Budget) if self.waiting_objects() == 0 => Some(NotSent::NextTick),
            None if self.has_later_changes(world, slot) => Some(NotSent::Band),
            reason => reason,
        }
    }

    /// Returns whether changes of an object wait that the client receives later, because the connection is
    /// far from the object.
    fn has_later_changes(&self, world: &World, slot: u32) -> bool {
        let band = self.view().band_of_object(world, slot);
        band.is_some_and(|band| world.later.is_waiting(band.period, slot))
    }

    /// Returns whether the client lacks values of an object because it is far from the object.
    pub(crate) fn lacks_by_distance(&self, world: &World, slot: u32) -> bool {
        let (object, conditions) = (&world.objects[slot as usize], world.conditions(slot));
        let lacks = |property| object.changed_at(property) > Some(self.objects.left_at(slot, property));
        let hidden = self.view().is_far(slot).then(|| self.view().hidden_by_distance(world, slot));
        hidden.is_some_and(|hidden| {
            hidden.iter().filter_map(|handle| conditions.property_of(handle)).any(lacks)
        })
    }

    /// Takes the changes that were dropped from full histories of objects, if this connection lacks them.
    pub(super) fn take_evicted(&mut self, context: &PassContext<'_>) {
        for (slot, place, list) in &context.world.changes.found.evicted {
            self.objects.evicted(*slot, *place, list, |view| view.mask(context.world, *slot));
        }
    }
}
