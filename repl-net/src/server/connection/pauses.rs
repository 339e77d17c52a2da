//! Pauses of a connection: times in which no state is sent, because the user has paused the connection or
//! because other connections have their turns in this tick (S193). Single objects can be paused, too.
//!
//! *Invariant:* in a pause each change is in the history of its object or pending, so after the pause the
//! client receives what it lacks, merged by object. The memory for it does not grow with the length of the
//! pause (R10).

use std::time::Duration;

use super::Connection;
use super::backlog::Pause;
use super::context::PassContext;
use crate::server::world::World;

impl Connection {
    /// Returns whether the user has paused the connection.
    pub(crate) fn is_paused(&self) -> bool {
        self.backlog.as_ref().is_some_and(|backlog| backlog.pause.is_paused)
    }

    pub(crate) fn pause(&mut self) {
        self.backlog_mut().pause.is_paused = true;
    }

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

    /// Postpones the changes of the objects that are paused for this connection.
    pub(super) fn hold_paused(&mut self, world: &World) {
        for slot in self.copies.objects.paused_to_send(world) {
            self.copies.postpone(slot, world);
            self.copies.objects.hold(slot);
        }
    }

    /// Makes the changes pending that were dropped from full histories of objects, if this connection has not
    /// sent them.
    pub(super) fn take_evicted(&mut self, context: &PassContext<'_>) {
        for (slot, place, list) in &context.world.changes.found.evicted {
            self.copies.objects.evicted(*slot, *place, list, |view| view.mask(context.world, *slot));
        }
    }
}
