//! The world of the server: the classes and objects in a `store`, the `marks` of objects that may have
//! changed, and the changes of this tick.
//!
//! *Invariant:* an object that the server owns is compared at most once in a tick. The result is the same for
//! all connections (S67). An external object is compared each time that the user passes it. The results of
//! the comparisons stay in `changes` until the next tick.

mod comparing;
mod editing;
mod lists;
mod marks;
mod notifying;
mod spawning;
mod store;
mod ticks;

use std::any::{Any, TypeId};
use std::collections::BTreeMap;

use repl_core::{ConditionMasks, HandleSet, ObjectRef, PropertyIndex, Replicated};

use super::cells::area::Position;
use super::cells::sight::SightScratch;
use super::cells::{Cells, Group, Relevancy};
use super::changes::Changes;
use super::column::{Column, TypedColumn};
use super::dormancy::Dormancies;
use super::handed_over::{ExternalColumn, HandOver};
use super::later::LaterChanges;
use super::object::{Object, TearOff};
use super::occupant::Occupant;
use super::out_of_sight::OutOfSightSettings;
use super::paths::Paths;
use super::paused_objects::PausedObjects;
use super::priority::Priorities;
use super::relevancy_functions::RelevancyFunctions;
use super::revisions::Revisions;
use super::rows::OwnColumn;
use super::schedule::{Schedule, UpdateRate};
use super::source::Source;
use crate::body::forest::Forest;
use crate::body::slot_set::{SlotSet, slots_of};
use crate::session::classes::assert_sole_name;
use crate::session::events::CompareError;
use marks::Marks;
pub(crate) use store::{Absence, Store, WorldLimits};

#[derive(Default)]
pub(crate) struct World {
    pub(crate) store: Store,
    pub(super) marks: Marks,
    /// Where each object is: in a cell of space or of a group, or in no cell. This decides which connections
    /// see it.
    pub(crate) cells: Cells,
    /// Decides when changed objects are compared.
    pub(crate) schedule: Schedule,
    /// The objects that are paused for all connections.
    pub(crate) paused: PausedObjects,
    /// The dormancy of each object: whether it may sleep while it does not change.
    pub(crate) dormancies: Dormancies,
    /// Decides which waiting objects are sent to a connection first.
    pub(crate) priorities: Priorities,
    /// Which object owns which other objects.
    pub(crate) owners: Forest,
    /// The parents of subobjects. Also contains subobjects that were removed from the server, but not yet
    /// from all clients.
    pub(crate) subobjects: Forest,
    /// The paths of static objects.
    pub(crate) paths: Paths,
    /// The audience of each object whose audience is not [`Always`](Relevancy::Always), by slot. It restricts
    /// which connections see the object.
    pub(crate) audiences: BTreeMap<u32, Relevancy>,
    /// Which objects clients keep when they are out of sight.
    pub(crate) out_of_sight: OutOfSightSettings,
    /// The functions that decide which connections see the objects of a class.
    pub(crate) functions: RelevancyFunctions,
    /// The names of objects in logs, by slot. The user sets them.
    pub(super) names: BTreeMap<u32, Box<str>>,
    pub(crate) changes: Changes,
    /// The changes that far connections receive later.
    pub(crate) later: LaterChanges,
    /// The earlier values of properties that are sent as differences.
    pub(crate) revisions: Revisions,
    pub(crate) frame: u64,
    pub(crate) sight_scratch: SightScratch,
}

/// State of an object that connections no longer need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Unneeded {
    /// No connection needs the changelists in the history of the object.
    History,
    /// One connection no longer uses the slot of the object.
    Slot,
}

impl World {
    /// Returns how logs call the object in `slot`: its name, or its path if it has no name.
    pub(crate) fn name(&self, slot: u32) -> Option<&str> {
        self.names.get(&slot).map(|name| &**name).or_else(|| self.paths.path(slot).map(|path| &**path))
    }

    /// Returns the number of the class of `T`, and registers the class if it is new. The live objects of the
    /// class come from the source `S`.
    ///
    /// # Panics
    /// Panics if the class is new and `frozen` is set, if the initial values of its objects are too large, or
    /// if the live objects of the class come from another source.
    #[track_caller]
    pub(crate) fn register<T: Replicated, S: Source<T>>(&mut self, frozen: bool) -> u16 {
        let name = T::LAYOUT.name();
        if let Some(class) = self.store.class_of::<T>() {
            let has_source = self.store.columns[class as usize].is::<TypedColumn<T, S>>();
            assert!(has_source, "{}", S::when_another(name));
            return class;
        }
        let mut known = self.store.columns.iter().map(|column| column.program().layout());
        assert_sole_name(T::LAYOUT.table(), &mut known);
        assert!(
            !frozen,
            "class `{name}` is new, but a client or a host has connected already: call `{}::<{name}>()` before the first one",
            S::REGISTERED_BY
        );
        let class = self.store.columns.len() as u16;
        let column = TypedColumn::<T, S>::new(self.store.limits.max_object_bits());
        column.shadows.assert_fits(&T::initial(), self.store.limits.max_object_bytes);
        self.store.asks_at_open |= asks_at_open(column.conditions());
        self.store.columns.push(Box::new(column));
        self.marks.polled.push(false);
        self.store.by_type.insert(TypeId::of::<T>(), class);
        class
    }

    /// Returns a mutable reference to an object, and marks the object to be compared at its next update.
    pub(crate) fn get_mut<T: Replicated>(&mut self, object: ObjectRef<T>) -> Result<&mut T, Absence> {
        let guid = object.guid().ok_or(Absence::Gone)?;
        let found = self.store.occupants.get(guid.slot() as usize).filter(|occupant| occupant.is(guid));
        let occupant = found.ok_or(Absence::Gone)?;
        let column = &mut self.store.columns[occupant.class as usize];
        let rows = &mut column.downcast_mut::<OwnColumn<T>>().ok_or(Absence::NotOwn)?.source.0;
        let live = rows.get_mut(occupant.row as usize).ok_or(Absence::Gone)?;
        self.marks.dirty.insert(guid.slot());
        Ok(live)
    }

    fn mark_guid<T: ?Sized>(dirty: &mut SlotSet, object: ObjectRef<T>) {
        if let Some(guid) = object.guid() {
            dirty.insert(guid.slot());
        }
    }

    /// Returns mutable references to several objects of a class, and marks the objects to be compared at
    /// their next update. Returns `None` if one of the objects does not exist or occurs twice.
    pub(crate) fn get_disjoint_mut<T: Replicated, const N: usize>(
        &mut self,
        objects: [ObjectRef<T>; N],
    ) -> Option<[&mut T; N]> {
        let class = *self.store.by_type.get(&TypeId::of::<T>())?;
        let mut rows = [0; N];
        for (row, object) in rows.iter_mut().zip(objects) {
            let place = self.store.row_of(object)?;
            *row = Some(place).filter(|(found, _)| *found == class as usize)?.1;
        }
        let Self { store: Store { columns, .. }, marks: Marks { dirty, .. }, .. } = self;
        let live = live_mut::<T>(&mut *columns[class as usize])?.get_disjoint_mut(rows).ok()?;
        objects.into_iter().for_each(|object| Self::mark_guid(dirty, object));
        Some(live)
    }

    /// Returns mutable references to two objects of any classes, and marks the objects to be compared at
    /// their next update. Returns `None` if one of the objects does not exist or if both are the same object.
    pub(crate) fn get_pair_mut<A: Replicated, B: Replicated>(
        &mut self,
        first: ObjectRef<A>,
        second: ObjectRef<B>,
    ) -> Option<(&mut A, &mut B)> {
        let ((one, row), (other, other_row)) = (self.store.row_of(first)?, self.store.row_of(second)?);
        let Self { store: Store { columns, .. }, marks: Marks { dirty, .. }, .. } = self;
        let (a, b): (&mut A, &mut B) = if one == other {
            let [a, b] = live_mut::<A>(&mut *columns[one])?.get_disjoint_mut([row, other_row]).ok()?;
            (a, (b as &mut dyn Any).downcast_mut()?)
        } else {
            let [one, other] = columns.get_disjoint_mut([one, other]).ok()?;
            (live_mut(&mut **one)?.get_mut(row)?, live_mut(&mut **other)?.get_mut(other_row)?)
        };
        Self::mark_guid(dirty, first);
        Self::mark_guid(dirty, second);
        Some((a, b))
    }

    /// Returns mutable references to all objects of a class. The next tick finds the objects that have
    /// changed. They are compared at their next update.
    pub(crate) fn objects_mut<T: Replicated>(&mut self) -> impl Iterator<Item = (ObjectRef<T>, &mut T)> {
        let class = self.store.by_type.get(&TypeId::of::<T>()).copied();
        let Self { store: Store { columns, occupants, .. }, marks, .. } = self;
        let column = class.and_then(|class| {
            marks.polled[class as usize] = true;
            columns[class as usize].downcast_mut::<OwnColumn<T>>()
        });
        column
            .into_iter()
            .flat_map(OwnColumn::pairs_mut)
            .map(|(&slot, object)| (ObjectRef::new(occupants[slot as usize].guid(slot)), object))
    }

    /// Marks a property of an object as changed, and marks the object to be compared at its next update. Does
    /// nothing if the object does not exist or is of another class.
    #[inline]
    pub(crate) fn mark<T: Replicated>(&mut self, object: ObjectRef<T>, property: PropertyIndex<T>) {
        if let Some(slot) = self.store.slot_of(object)
            && self.store.mark_property::<T>(slot, property.erase())
        {
            self.marks.dirty.insert(slot);
        }
    }

    /// Returns whether an object may have changed since the last tick.
    pub(crate) fn is_dirty(&self, slot: u32) -> bool {
        self.marks.dirty.contains(slot)
            || self.marks.left_over.contains(slot)
            || self.marks.newborn.contains(slot)
            || self.marks.polled[usize::from(self.store.occupant(slot).class)]
    }

    /// Returns the `push` properties of an object that differ from their shadows (the objects' values at the
    /// last comparison) and were not marked as dirty. Costs as much as a comparison of the object.
    pub(crate) fn unmarked(&self, slot: u32) -> HandleSet {
        if self.store.has_last_state(slot) {
            return HandleSet::new();
        }
        self.store.column_of(slot).unmarked(self.store.occupant(slot).row)
    }

    pub(crate) fn was_not_handed_over(&self, slot: u32) -> bool {
        let handed_over = self.store.column_of(slot).handed_over_in(self.store.occupant(slot).row);
        handed_over.is_some_and(|frame| frame + 1 < self.frame) && !self.store.has_last_state(slot)
    }

    /// Marks an object to be compared in the next tick, even if its update time is not reached yet.
    pub(crate) fn force_update(&mut self, slot: u32) {
        self.marks.dirty.insert(slot);
        self.schedule.force(slot);
    }

    /// Pauses an object for all connections, or ends its pause. Returns whether this is a change.
    pub(crate) fn set_paused(&mut self, slot: u32, paused: bool) -> bool {
        if self.paused.contains(slot) == paused {
            return false;
        }
        if paused {
            self.paused.pause(slot);
        } else if self.paused.resume(slot) {
            self.force_update(slot);
        }
        true
    }

    pub(crate) fn set_class_rate(&mut self, class: u16, rate: UpdateRate) {
        self.schedule.set_class_rate(class, rate);
        for slot in self.store.alive.iter().filter(|&slot| self.store.occupants[slot as usize].class == class)
        {
            if self.schedule.apply_class_rate(slot, class) {
                self.marks.dirty.insert(slot);
            }
        }
    }

    pub(crate) fn set_object_rate(&mut self, slot: u32, rate: Option<UpdateRate>) {
        if self.schedule.set_own_rate(slot, self.store.occupant(slot).class, rate) {
            self.marks.dirty.insert(slot);
        }
    }

    /// Compares the external object `live` with its shadow. The next tick sends the differences. Returns
    /// whether the items of `live` must receive [other ids](repl_core::Class::renumber_items).
    pub(crate) fn compare_external<T: Replicated>(
        &mut self,
        object: ObjectRef<T>,
        live: &T,
    ) -> Result<bool, CompareError> {
        let slot = self.store.slot_of(object).ok_or(CompareError::Gone)?;
        let Occupant { class, row, .. } = self.store.occupant(slot);
        let column = self.store.columns[class as usize].downcast_mut::<ExternalColumn<T>>();
        let column = column.ok_or(CompareError::OtherClass)?;
        if self.store.objects[slot as usize].tear_off == TearOff::Frozen {
            return Ok(false);
        }
        let inputs = HandOver {
            scope: ExternalColumn::<T>::compared(column.shadows.class.conditions()),
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
        Ok(self.changes.found.scratch.take_must_renumber())
    }

    /// Sets the position of an external object whose class has no position field. The object moves to its new
    /// cell at the next tick. An object with a coordinate that is not finite is in no cell.
    ///
    /// # Panics Panics if the class has no area, or if the position of an object is computed from its fields.
    #[track_caller]
    pub(crate) fn place<T: Replicated>(
        &mut self,
        object: ObjectRef<T>,
        position: Position,
    ) -> Result<(), CompareError> {
        let slot = self.store.slot_of(object).ok_or(CompareError::Gone)?;
        let Occupant { class, .. } = self.store.occupant(slot);
        let column = self.store.columns[class as usize].downcast_mut::<ExternalColumn<T>>();
        let column = column.ok_or(CompareError::OtherClass)?;
        let is_placed = column.shadows.locate.is_none();
        let Some((area, positions)) = self.cells.positions_in(class).filter(|_| is_placed) else {
            let name = T::LAYOUT.name();
            assert!(
                is_placed,
                "the positions of `{name}` are in its fields, because of `set_area` or `locate`: change the field and call `compare`, \
                 instead of `place`"
            );
            panic!(
                "`{name}` has no area for placed objects: call `server.class::<{name}>().set_placed_area(area)` before the first connection \
                 and the first `spawn`, where the area says how far clients see it"
            );
        };
        if position.iter().all(|coordinate| coordinate.is_finite()) {
            positions.update(area, std::iter::once((slot, position)));
        } else {
            positions.leave(slot);
        }
        Ok(())
    }

    /// Records that a connection will send an object to its client for the first time. The next tick then
    /// also compares the properties that are compared only before an opening (S40).
    pub(crate) fn compare_for_open(&mut self, slot: u32) {
        if asks_at_open(self.store.conditions(slot)) {
            self.marks.opening.insert(slot);
        }
    }

    /// Returns whether any class has properties that are compared only before an opening (first update).
    pub(crate) fn asks_at_open(&self) -> bool {
        self.store.asks_at_open
    }

    /// Records that a connection will send the opening of an object again if the object changes in this tick.
    pub(crate) fn compare_for_repeated_open(&mut self, slot: u32) {
        if asks_at_open(self.store.conditions(slot)) {
            self.marks.reopening.insert(slot);
        }
    }

    pub(crate) fn compare_mask_for_open(&mut self, word: usize, mask: u64) {
        if self.store.asks_at_open {
            slots_of(word, mask).for_each(|slot| self.compare_for_open(slot));
        }
    }

    pub(crate) fn tear_off(&mut self, slot: u32) {
        self.store.objects[slot as usize].tear_off = TearOff::Begun;
        self.force_update(slot);
        self.marks.tearing_off.push(slot);
    }

    /// Returns the slots of an object and of all its subobjects that exist. Parents come before their
    /// subobjects.
    pub(crate) fn with_subobjects(&self, slot: u32) -> Vec<u32> {
        let mut all = self.subobjects.with_descendants(slot);
        all.retain(|&slot| self.store.occupant(slot).alive);
        all
    }

    /// Returns the objects that have a group in their audience or in their combined relevancy, and the
    /// objects attached to them.
    pub(crate) fn seen_by_group(&self, group: Group) -> Vec<u32> {
        let audiences = self.audiences.iter().map(|(&slot, audience)| (slot, audience));
        let combined = self.cells.combined().iter().filter_map(|slot| {
            let relevancy = self.cells.combination(self.cells.rule(slot))?;
            Some((slot, relevancy))
        });
        let named = audiences.chain(combined).filter(|(_, relevancy)| relevancy.names_group(group));
        named.flat_map(|(slot, _)| self.cells.with_attached(slot)).collect()
    }

    /// Records whether the function of its class decides who sees an object, after its relevancy or its
    /// audience has changed.
    pub(crate) fn update_function_user(&mut self, slot: u32) {
        if self.functions.are_used() {
            let relevancy = self.cells.combination(self.cells.rule(slot));
            let mut rules = relevancy.into_iter().chain(self.audiences.get(&slot));
            let is_user = rules.any(|rule| rule.has(&|part| *part == Relevancy::Computed));
            self.functions.set_user(self.store.occupant(slot).class, slot, is_user);
        }
    }

    /// Removes an object from the server. `holders` is the number of connections that use the slot of the
    /// object. The slot becomes free when no connection uses it any more.
    pub(crate) fn despawn(&mut self, slot: u32, holders: u32) {
        let is_told_to_joiners = self.paths.destroy(slot);
        self.store.objects[slot as usize].holders = holders + u32::from(is_told_to_joiners);
        let occupant = &mut self.store.occupants[slot as usize];
        occupant.alive = false;
        let Occupant { class, row, .. } = *occupant;
        if let Some(moved) = self.store.columns[class as usize].remove(row) {
            self.store.occupants[moved as usize].row = row;
        }
        self.marks.dirty.remove(slot);
        self.marks.left_over.remove(slot);
        self.marks.refusing.remove(slot);
        self.schedule.forget(slot);
        self.paused.resume(slot);
        self.priorities.forget(slot);
        self.dormancies.forget(slot);
        self.marks.opening.remove(slot);
        self.store.alive.remove(slot);
        self.marks.view_changed.insert(slot);
        self.later.remove(slot);
        self.free_if_unheld(slot);
    }

    /// Records that a connection no longer needs a part of an object. Frees the part if no other connection
    /// needs it.
    pub(crate) fn free(&mut self, slot: u32, what: Unneeded) {
        let object = &mut self.store.objects[slot as usize];
        match what {
            Unneeded::History if object.has_laggards() => {}
            Unneeded::History => object.history.release(),
            Unneeded::Slot => self.release(slot),
        }
    }

    /// Records that one connection no longer uses the slot of a removed object, and frees the slot if no
    /// other connection uses it. Does nothing if the object exists.
    pub(crate) fn release(&mut self, slot: u32) {
        if !self.store.occupant(slot).alive {
            let object = &mut self.store.objects[slot as usize];
            object.holders = object.holders.saturating_sub(1);
            self.free_if_unheld(slot);
        }
    }

    fn free_if_unheld(&mut self, slot: u32) {
        if self.store.objects[slot as usize].holders > 0 {
            return;
        }
        self.paths.remove(slot);
        self.names.remove(&slot);
        self.subobjects.remove(slot);
        self.revisions.remove(slot);
        // After all generations of a slot are used up, the slot is never used again.
        if let Some(next) = self.store.occupant(slot).guid(slot).next() {
            self.store.occupants[slot as usize] =
                Occupant { alive: false, ..Occupant::new(next.generation()) };
            self.store.objects[slot as usize] = Object::new();
            self.store.free.push_back(slot);
        }
    }
}

/// Returns whether a class has properties that are compared only before an opening (first update).
fn asks_at_open(conditions: &ConditionMasks) -> bool {
    !conditions.initial_only().is_empty() || !conditions.push().is_empty()
}

/// Returns the live objects of a column if they have the type `T` and the server owns them.
fn live_mut<T: Replicated>(column: &mut dyn Column) -> Option<&mut Vec<T>> {
    Some(&mut column.downcast_mut::<OwnColumn<T>>()?.source.0)
}
