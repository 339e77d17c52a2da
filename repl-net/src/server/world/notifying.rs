//! The notifies of the host on the objects of the world.
//!
//! *Invariant:* the old values of an object are those of its shadow after its last comparison.

use std::collections::BTreeMap;

use super::{Store, World};
use crate::body::slot_set::SlotSet;
use crate::server::occupant::Occupant;
use crate::server::old_values::OldValues;

impl World {
    /// Returns the old values of the objects in `slots` that exist and whose classes have notifies.
    pub(crate) fn old_values(&self, slots: &SlotSet) -> impl Iterator<Item = (u32, OldValues)> {
        let occupants = slots.iter().map(|slot| (slot, self.store.occupant(slot)));
        occupants.filter(|(_, occupant)| occupant.alive).filter_map(|(slot, Occupant { class, row, .. })| {
            Some((slot, self.store.column(class).old_values(row)?))
        })
    }

    /// Calls the notifies for the changes that this tick has found in objects with old values in `old`, and
    /// stores the new values in `old`. The next tick compares these objects again, because notifies may write
    /// to them.
    pub(crate) fn notify(&mut self, old: &mut BTreeMap<u32, OldValues>) {
        let Self { store: Store { columns, occupants, .. }, marks, changes, .. } = self;
        for change in changes.as_slice() {
            let Some(old) = old.get_mut(&change.slot) else { continue };
            let Occupant { class, row, .. } = occupants[change.slot as usize];
            if columns[usize::from(class)].notify(row, change.list.handles(), old) {
                marks.dirty.insert(change.slot);
            }
        }
    }
}
