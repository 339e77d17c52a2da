//! Editors of objects of the world, and the marks that an editor can set.
//!
//! *Invariant:* an object of the server keeps its marks until a tick compares it. The marked properties of an
//! external object are compared before `edit_external` returns.

use repl_core::__private::{EditedObjects, Editor, Marker};
use repl_core::{Edit, HandleSet, ObjectRef, Replicated};

use super::World;
use super::store::Absence;
use crate::body::slot_set::SlotSet;
use crate::server::handed_over::{ExternalColumn, HandOver};
use crate::server::object::TearOff;
use crate::server::occupant::Occupant;
use crate::server::rows::OwnColumn;
use crate::session::events::CompareError;

impl EditedObjects for SlotSet {
    #[inline]
    fn insert_edited(&mut self, slot: u32) {
        self.insert(slot);
    }
}

/// Receives the slots of edited objects, and ignores them.
struct Unnoticed;

impl EditedObjects for Unnoticed {
    fn insert_edited(&mut self, _: u32) {}
}

impl World {
    #[inline(always)]
    pub(crate) fn edit<T: Replicated>(&mut self, object: ObjectRef<T>) -> Result<Edit<'_, T>, Absence> {
        let guid = object.guid().ok_or(Absence::Gone)?;
        let found = self.store.occupants.get(guid.slot() as usize).filter(|occupant| occupant.is(guid));
        let Occupant { class, row, .. } = *found.ok_or(Absence::Gone)?;
        let column = self.store.columns[usize::from(class)].downcast_mut::<OwnColumn<T>>();
        let OwnColumn { shadows, source } = column.ok_or(Absence::NotOwn)?;
        let object = source.0.get_mut(row as usize).ok_or(Absence::Gone)?;
        let conditions = shadows.class.conditions();
        let marker = Marker {
            conditions,
            accepted: conditions.push(),
            marked: shadows.marks.get_mut(row as usize),
            edited: &mut self.marks.dirty,
            slot: guid.slot(),
        };
        Ok(T::edit(Editor { object, marker }))
    }

    /// Lets `change` edit the external object `live`, and compares the properties that `change` has marked.
    pub(crate) fn edit_external<T: Replicated, R>(
        &mut self,
        object: ObjectRef<T>,
        live: &mut T,
        change: impl FnOnce(&mut Edit<'_, T>) -> R,
    ) -> Result<R, CompareError> {
        let slot = self.store.slot_of(object).ok_or(CompareError::Gone)?;
        let Occupant { class, row, .. } = self.store.occupant(slot);
        let column = self.store.columns[usize::from(class)].downcast_mut::<ExternalColumn<T>>();
        let column = column.ok_or(CompareError::OtherClass)?;
        let conditions = column.shadows.class.conditions();
        let (accepted, mut marked) = (ExternalColumn::<T>::compared(conditions), HandleSet::new());
        let (edited, marks) = (&mut Unnoticed, Some(&mut marked));
        let marker = Marker { conditions, accepted: &accepted, marked: marks, edited, slot };
        let result = change(&mut T::edit(Editor { object: live, marker }));
        if marked.is_empty() || self.store.objects[slot as usize].tear_off == TearOff::Frozen {
            return Ok(result);
        }
        // A property that is too large is refused as a whole, so all elements of a fixed array are compared.
        let marked = conditions.whole_properties(&marked);
        let inputs = HandOver {
            scope: marked.clone(),
            max_bits: self.store.limits.max_object_bits(),
            is_new: self.marks.newborn.contains(slot),
            frame: self.frame,
            scratch: &mut self.changes.found.scratch,
        };
        if column.hand_over(row, live, inputs) {
            self.marks.dirty.insert(slot);
        }
        for (handle, base) in self.changes.found.scratch.take_replaced() {
            self.revisions.replaced(slot, handle, base);
        }
        column.shadows.mark_handles(row, marked);
        if self.changes.found.scratch.take_must_renumber() {
            column.shadows.class.renumber_items(live);
        }
        Ok(result)
    }
}
