//! Adds objects to the world: plain ones, subobjects, and static ones with paths.
//!
//! *Invariant:* a slot is used again only when no connection uses it any more (R17).

use std::num::NonZeroU32;
use std::sync::Arc;

use repl_core::{HandleSet, ObjectRef, Replicated};

use super::World;
use crate::body::growth::push_with;
use crate::server::cells::Home;
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
        let left = self.store.limits.max_objects.saturating_sub(self.store.objects.len());
        let additional = additional.min(left + self.store.free.len());
        self.store.columns[class as usize].reserve(additional);
        let new_slots = additional.saturating_sub(self.store.free.len());
        self.store.occupants.reserve(new_slots);
        self.store.objects.reserve(new_slots);
        self.store.demand.reserve(self.store.objects.len() + new_slots);
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
        let max_objects = self.store.limits.max_objects;
        if self.store.free.is_empty() && self.store.objects.len() >= max_objects {
            return Err(SpawnError { max_objects });
        }
        let class = self.register::<T, S>(frozen);
        let slot = match self.store.free.pop_front() {
            Some(slot) => {
                // A free slot already has the generation of its next object.
                self.store.occupants[slot as usize].alive = true;
                self.changes.forget(slot);
                slot
            }
            None => {
                push_with(&mut self.store.occupants, || Occupant::new(NonZeroU32::MIN));
                push_with(&mut self.store.objects, Object::new);
                self.store.objects.len() as u32 - 1
            }
        };
        let column = self.store.columns[class as usize].downcast_mut::<TypedColumn<T, S>>();
        let Some(column) = column else { unreachable!("`register` returns the column of the type") };
        let (row, position) = column.insert(slot, archetype, add);
        let remembers = column.conditions().is_conditional();
        let occupant = &mut self.store.occupants[slot as usize];
        (occupant.class, occupant.row) = (class, row);
        let guid = occupant.guid(slot);
        let object = &mut self.store.objects[slot as usize];
        object.set_archetype(archetype);
        if remembers {
            object.remember_changes(T::LAYOUT.properties());
        }
        self.schedule.apply_class_rate(slot, class);
        self.store.alive.insert(slot);
        self.marks.newborn.insert(slot);
        self.store.spawned += 1;
        self.cells.add(slot, class, position);
        self.update_function_user(slot);
        Ok(ObjectRef::new(guid))
    }

    /// Makes a new object a subobject: from now on, it is attached to its parent and owned by it.
    pub(crate) fn add_subobject(&mut self, slot: u32, parent: u32) {
        self.cells.attach_new(slot, ObjectRef::new(self.store.occupant(parent).guid(parent)));
        self.update_function_user(slot);
        self.owners.set(slot, Some(parent));
        self.subobjects.set(slot, Some(parent));
        if self.paused.contains(parent) {
            self.paused.pause(slot);
        }
    }

    /// Makes a new object static.
    pub(crate) fn make_static(&mut self, slot: u32, path: Arc<str>) {
        let frame = self.frame + 1;
        // The client's object may begin with any values, so all properties count as changed.
        let handles = HandleSet::up_to(self.store.column_of(slot).program().handles());
        let (object, conditions) = self.store.object_mut(slot);
        object.history.count_as_changed(&handles);
        object.note_changes(&handles, conditions, frame);
        if let Some(before) = self.paths.insert(slot, path) {
            self.release(before);
        }
    }

    /// Returns whether an object was spawned so recently that no packet has contained any of it.
    pub(crate) fn is_newborn(&self, slot: u32) -> bool {
        self.marks.newborn.contains(slot) || self.changes.newborn.contains(slot)
    }

    /// Returns whether no tick has compared an object yet.
    pub(crate) fn is_unseen(&self, slot: u32) -> bool {
        self.marks.newborn.contains(slot)
    }

    /// Returns whether a new object and its properties are the same for all clients. This assumes that no
    /// setting for a single client hides the object, or an object to which it is attached.
    pub(crate) fn is_alike_for_all(&self, slot: u32) -> bool {
        self.cells.home(slot) == Home::Everyone
            && !self.cells.combined().contains(slot)
            && (self.are_seen_alike() || self.cells.parent(slot).is_none())
            && !self.store.conditions(slot).is_conditional()
            && !self.dormancies.is_used()
            && !self.paused.contains(slot)
            && !self.paths.is_static(slot)
    }

    /// Returns whether no object has an audience or a combined relevancy.
    fn are_seen_alike(&self) -> bool {
        self.audiences.is_empty() && self.cells.combined().is_empty()
    }

    /// Returns the slot of the existing object with this path.
    pub(crate) fn slot_with_path(&self, path: &str) -> Option<u32> {
        self.paths.slot_of(path).filter(|&slot| self.store.occupant(slot).alive)
    }
}
