//! Calls the functions that decide which objects the client sees.
//!
//! *Invariant:* the functions are called only in ticks, so the verdicts do not change between two ticks.

use repl_core::ObjectRef;

use super::ObjectStates;
use super::view::View;
use crate::server::cells::area::Position;
use crate::server::priority::Viewer;
use crate::server::relevancy_functions::RelevancyFunctions;
use crate::server::verdicts::{Pairs, Verdicts};
use crate::server::world::Store;

impl ObjectStates {
    /// Calls the functions for the objects that are due for this client. Appends the slots of the objects
    /// whose verdicts have changed to `changed`. `directions` are the view directions of the client.
    pub(crate) fn call_functions(
        &mut self,
        functions: &mut RelevancyFunctions,
        store: &Store,
        directions: &[Position],
        changed: &mut Vec<u32>,
    ) {
        self.view.call_functions(functions, store, directions, changed);
    }

    /// Lets the functions be called again for this client, because something of it has changed.
    pub(crate) fn outdate_verdicts(&mut self) {
        if let Some(verdicts) = &mut self.view.verdicts {
            verdicts.is_outdated = true;
        }
    }

    /// Drops the verdict about an object that is removed from the server.
    pub(crate) fn forget_verdict(&mut self, slot: u32) {
        if let Some(verdicts) = &mut self.view.verdicts {
            verdicts.seen.remove(slot);
        }
    }
}

impl View {
    fn call_functions(
        &mut self,
        functions: &mut RelevancyFunctions,
        store: &Store,
        directions: &[Position],
        changed: &mut Vec<u32>,
    ) {
        let (connection, is_new) = (self.id(), self.verdicts.is_none());
        let verdicts = self.verdicts.get_or_insert_default();
        let is_outdated = std::mem::take(&mut verdicts.is_outdated);
        let Verdicts { seen, .. } = &mut **verdicts;
        let sight = self.sight.as_deref();
        for (class, function) in functions.classes_mut() {
            let due = function.due_for(is_new, is_outdated);
            if due.is_empty() {
                continue;
            }
            let viewer = Viewer {
                object: ObjectRef::NULL,
                connection,
                is_owner: false,
                viewpoints: sight.map_or(&[], |sight| sight.viewpoints()),
                directions,
                groups: sight.map_or(&[], |sight| sight.groups()),
            };
            let mut pairs = Pairs { viewer, owned: &self.owned, seen, changed };
            store.column(class).decide(due, &mut pairs);
            function.calls += due.len() as u64;
        }
    }
}
