//! Adds objects to the world: plain ones, subobjects, and static ones with paths.
//!
//! *Invariant:* a slot is used again only when no connection uses it any more (R17).

use std::num::NonZeroU32;
use std::sync::Arc;

use repl_core::{HandleSet, ObjectRef, Replicated};

use super::World;
use crate::body::growth::push_with;
use crate::server::cells::Relevancy;
use crate::server::cells::area::Position;
use crate::server::column::{Column, TypedColumn};
use crate::server::object::Object;
use crate::server::occupant::Occupant;
use crate::server::shadows::Shadows;
use crate::server::source::Source;
use crate::session::events::SpawnError;

impl World {
    /// Makes room for more objects of a class, but not for more than the limit allows.
    pub(crate) fn reserve(&mut self, class: u16, additional: usize) {
        let left = self.limits.max_objects.saturating_sub(self.objects.len());
        let additional = additional.min(left + self.free.len());
        self.columns[class as usize].reserve(additional);
        let new_slots = additional.saturating_sub(self.free.len());
        self.occupants.reserve(new_slots);
        self.objects.reserve(new_slots);
        self.cells.reserve(new_slots);
    }

    /// Adds an object to the server. The argument `add` adds the row of the object to the source of its
    /// class, and returns its position if the class has an area.
    ///
    /// # Panics
    /// Panics in the same cases as [`register`](Self::register).
    #[track_caller]
    pub(crate) fn spawn<T: Replicated, S: Source<T>>(
        &mut self,
        archetype: u32,
        frozen: bool,
        add: impl FnOnce(&Shadows<T>, &mut S) -> Option<Position>,
    ) -> Result<ObjectRef<T>, SpawnError> {
        let max_objects = self.limits.max_objects;
        if self.free.is_empty() && self.objects.len() >= max_objects {
            return Err(SpawnError { max_objects });
        }
        let class = self.register::<T, S>(frozen);
        let slot = match self.free.pop_front() {
            Some(slot) => {
                // The generation of a free slot is already that of its next object.
                self.occupants[slot as usize].alive = true;
                slot
            }
            None => {
                push_with(&mut self.occupants, || Occupant::new(NonZeroU32::MIN));
                push_with(&mut self.objects, Object::new);
                self.objects.len() as u32 - 1
            }
        };
        let column = self.columns[class as usize].downcast_mut::<TypedColumn<T, S>>();
        let Some(column) = column else { unreachable!("`register` returns the column of the type") };
        let (row, position) = column.insert(slot, archetype, add);
        let remembers = column.conditions().is_conditional();
        let occupant = &mut self.occupants[slot as usize];
        (occupant.class, occupant.row) = (class, row);
        let guid = occupant.guid(slot);
        let object = &mut self.objects[slot as usize];
        object.set_archetype(archetype);
        if remembers {
            object.remember_changes(T::LAYOUT.properties());
        }
        self.schedule.apply_class_rate(slot, class);
        self.alive.insert(slot);
        self.newborn.insert(slot);
        self.spawned += 1;
        self.cells.add(slot, class, position);
        Ok(ObjectRef::new(guid))
    }

    /// Makes an object a subobject: it is seen with its parent, and it is owned by its parent.
    pub(crate) fn add_subobject(&mut self, slot: u32, parent: u32) {
        let relevancy = Relevancy::AttachedTo(ObjectRef::new(self.occupant(parent).guid(parent)));
        self.cells.set_relevancy(slot, relevancy);
        self.owners.set(slot, Some(parent));
        self.subobjects.set(slot, Some(parent));
    }

    /// Makes a new object static.
    pub(crate) fn make_static(&mut self, slot: u32, path: Arc<str>) {
        let frame = self.frame + 1;
        // The client's object may begin with any values, so all properties count as changed.
        let handles = HandleSet::up_to(self.column_of(slot).program().handles());
        let (object, conditions) = self.object_mut(slot);
        object.history.count_as_changed(&handles);
        object.note_changes(&handles, conditions, frame);
        if let Some(before) = self.paths.insert(slot, path) {
            self.release(before);
        }
    }

    /// Returns the slot of the object that has a path.
    pub(crate) fn slot_with_path(&self, path: &str) -> Option<u32> {
        self.paths.slot_of(path).filter(|&slot| self.occupant(slot).alive)
    }
}
