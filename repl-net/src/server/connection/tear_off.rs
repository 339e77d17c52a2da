//! Tears objects off from a client: it is told when it has the last state of the object (S210).
//!
//! *Invariant:* the closing of an object that is torn off is first sent when all of its last state and all
//! reliable calls on it have arrived.

use super::context::PassContext;
use super::{Connection, calls};
use crate::server::world::World;

impl Connection {
    /// Begins to tear an object off, if the client sees it. Its calls still go to the client if it owns the
    /// object now.
    pub(crate) fn begin_tear_off(&mut self, world: &World, slot: u32) {
        if self.is_live && self.sees(world, slot) {
            let was_owner = world.objects[slot as usize].owner() == Some(self.id);
            self.last_rights.keep(world.occupant(slot).guid(slot), was_owner);
            self.objects.begin_tear_off(slot);
        }
    }

    /// Begins to close the objects whose last state has arrived at the client.
    pub(super) fn finish_tear_offs(&mut self, context: &mut PassContext<'_>) {
        let (floor, next) = (self.outbox.in_flight.floor(), self.outbox.sequence());
        let (held, unacked) = (self.held_calls.as_deref(), self.unacked_calls.as_deref());
        let outgoing = &self.exchange.outgoing;
        let has_calls = |slot| calls::are_left(held, unacked, outgoing, slot);
        for slot in self.objects.arrived_tear_offs(context.world, has_calls, floor, next) {
            if let Some(closed) = self.objects.finish_tear_off(slot, next) {
                let unneeded = self.stop_sending(context.world, slot, closed);
                context.free_later(slot, unneeded);
            }
        }
    }
}
