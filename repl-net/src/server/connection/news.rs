//! What a connection tells its client of itself: whether it has joined.
//!
//! *Invariant:* what is told stays true: a client that has joined never has not.

use super::Connection;
use super::context::PassContext;
use crate::session::events::CloseReason;

impl Connection {
    /// Whether everything has arrived that was there when the client joined. O(objects that have not).
    pub(super) fn has_joined(&mut self) -> bool {
        let (floor, next) = (self.outbox.in_flight.floor(), self.outbox.next());
        self.joining.is_over(&self.newcomers, &self.tracked, floor, next)
    }

    /// Asks for an ack of the news that the client has joined, where nothing else is sent or in flight that does: with the end of an object in a
    /// slot that is empty there, which does nothing (R5). Where the client has an object in each slot, signs of life tell it.
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
