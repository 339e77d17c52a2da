//! The verdicts of the functions that decide which connections see the objects of a class: one bit for each
//! pair of an object and a connection, stored with the connection.
//!
//! *Invariant:* a verdict changes only when the function is called for its pair, or when the object is
//! removed.

use repl_core::{Guid, ObjectRef};

use super::priority::Viewer;
use crate::body::slot_set::SlotSet;
use crate::body::sparse_slots::SparseSlots;

/// The verdicts of all functions about one connection.
#[derive(Debug, Default)]
pub(crate) struct Verdicts {
    /// The objects that the connection sees, according to the last calls of the functions. The set is not
    /// sparse, because each call of a function reads it.
    pub(crate) seen: SlotSet,
    /// Whether something of the connection has changed that functions may read.
    pub(crate) is_outdated: bool,
}

/// An object whose function is called in this tick.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due {
    pub(crate) object: Guid,
    /// The row of the object in the column of its class.
    pub(crate) row: u32,
}

/// What one connection contributes to the calls of a function, and what receives the results.
pub(crate) struct Pairs<'a> {
    pub(crate) viewer: Viewer<'a>,
    /// The objects that the connection owns.
    pub(crate) owned: &'a SparseSlots,
    pub(crate) seen: &'a mut SlotSet,
    /// Receives the slots of the objects whose verdicts have changed.
    pub(crate) changed: &'a mut Vec<u32>,
}

/// A function that decides which connections see the objects of the class `T`.
pub(crate) trait Decide<T>: Send + Sync {
    /// Calls the function for some objects and one connection. The shadows of the objects are in `rows`. One
    /// call handles many objects, because a dynamic call takes longer than the work for one object.
    fn decide(&self, rows: &[T], due: &[Due], pairs: &mut Pairs<'_>);
}

impl<T, F: Fn(&T, &Viewer<'_>) -> bool + Send + Sync> Decide<T> for F {
    fn decide(&self, rows: &[T], due: &[Due], pairs: &mut Pairs<'_>) {
        let Pairs { viewer, owned, seen, changed } = pairs;
        let owns_any = !owned.is_empty();
        for &Due { object, row } in due {
            let slot = object.slot();
            viewer.object = ObjectRef::new(object);
            viewer.is_owner = owns_any && owned.contains(slot);
            let is_seen = self(&rows[row as usize], viewer);
            if is_seen != seen.contains(slot) {
                seen.set(slot, is_seen);
                changed.push(slot);
            }
        }
    }
}
