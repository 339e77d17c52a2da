//! Calls the functions that decide which objects the client sees.
//!
//! *Invariant:* if anything changes that such a function may read of the connection, the functions are called
//! again in the next tick.

use super::Connection;
use crate::server::cells::area::Position;
use crate::server::relevancy_functions::RelevancyFunctions;
use crate::server::world::{Store, World};

impl Connection {
    /// Calls the functions for the objects that are due for this client. Appends the slots of the objects
    /// whose verdicts have changed to `changed`.
    pub(crate) fn call_functions(
        &mut self,
        functions: &mut RelevancyFunctions,
        store: &Store,
        changed: &mut Vec<u32>,
    ) {
        let directions = self.backlog.as_ref().map_or(&[][..], |backlog| backlog.directions());
        self.copies.objects.call_functions(functions, store, directions, changed);
    }

    /// Sets the directions in which the connection looks from each of its viewpoints.
    pub(crate) fn set_directions(&mut self, world: &mut World, directions: &[Position]) {
        if self.backlog_mut().directions() != directions {
            self.backlog_mut().set_directions(directions);
            self.copies.outdate_verdicts(world);
        }
    }
}
