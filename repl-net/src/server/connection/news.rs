//! Tells a client that it has joined.
//!
//! *Invariant:* a client that has joined stays joined.

use super::Connection;
use super::context::PassContext;
use crate::session::events::CloseReason;

impl Connection {
    /// Whether all objects have arrived that existed when the client joined. O(objects that have not).
    pub(super) fn has_joined(&mut self) -> bool {
        let (floor, next) = (self.outbox.in_flight.floor(), self.outbox.next());
        self.joining.is_over(&self.newcomers, &self.tracked, floor, next)
    }

    /// Requests an ack for the news that the client has joined, if nothing else is sent or in flight that
    /// requests one. It sends a close for a slot that is empty on the client, which does nothing (R5). If the
    /// client has an object in each slot, keep-alives tell it.
    pub(super) fn ask_whether_joined_is_known(&mut self, context: &PassContext<'_>) {
        if !self.outbox.is_pass_empty() || !self.outbox.is_unsure_of_news() {
            return;
        }
        let slot = self.known.first_absent();
        if (slot as usize) < context.world.limits.max_objects {
            self.write_close(slot, CloseReason::Relevancy, context.now);
        }
    }
}
