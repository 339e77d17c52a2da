//! Tears objects off from a client: the client is told when it has the last state of the object (S210).
//!
//! *Invariant:* the closing of an object that is torn off is sent only after all of its last state and all
//! reliable calls on it have arrived.

use super::Connection;
use super::context::PassContext;

impl Connection {
    /// Begins to close the objects whose last state has arrived at the client.
    pub(super) fn finish_tear_offs(&mut self, context: &mut PassContext<'_>) {
        let (floor, next) = (self.link.outbox.in_flight.floor(), self.link.outbox.sequence());
        let (calls, outgoing) = (&self.calls, &self.link.exchange.outgoing);
        let has_calls = |slot| calls.are_left(slot, outgoing);
        for slot in self.copies.objects.arrived_tear_offs(context.world, has_calls, floor, next) {
            if let Some(closed) = self.copies.objects.finish_tear_off(slot, next) {
                let unneeded = self.copies.stop_sending(context.world, slot, closed);
                context.free_later(slot, unneeded);
            }
        }
    }
}
