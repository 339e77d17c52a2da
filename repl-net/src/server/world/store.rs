//! The classes of a server, and its objects in their slots.
//!
//! *Invariant:* each slot has an occupant and a state. The occupant says in which row of its class the values
//! of the object are.

use std::any::TypeId;
use std::collections::VecDeque;

use repl_core::{ConditionMasks, Guid, ObjectRef, Objects, PropertyIndex, Replicated};
use repl_link::parts::ChannelTerms;

use crate::body::contents::Cohort;
use crate::body::growth::{Demand, shrink};
use crate::body::slot_set::{SlotSet, bit_of, slots_of};
use crate::server::asset_paths::AssetPaths;
use crate::server::column::Column;
use crate::server::object::{Object, TearOff};
use crate::server::occupant::Occupant;
use crate::server::rows::OwnColumn;
use crate::server::shadows::Shadows;
use crate::session::classes::ClassList;
use crate::session::type_map::TypeMap;

#[derive(Default)]
pub(crate) struct Store {
    pub(super) columns: Vec<Box<dyn Column>>,
    pub(super) by_type: TypeMap<u16>,
    pub(super) occupants: Vec<Occupant>,
    pub(crate) objects: Vec<Object>,
    /// The slots in which an object exists.
    pub(crate) alive: SlotSet,
    pub(super) free: VecDeque<u32>,
    /// How many slots recent ticks needed.
    pub(super) demand: Demand,
    /// How many objects were spawned so far.
    pub(crate) spawned: u64,
    pub(crate) limits: WorldLimits,
    /// The paths of the assets, which are not objects.
    pub(crate) assets: AssetPaths,
    /// Whether some class has properties that are compared only before an opening (first update).
    pub(super) asks_at_open: bool,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WorldLimits {
    /// The greatest number of slots, including the slots of objects that were removed but that some client
    /// has not acknowledged as removed yet.
    pub(crate) max_objects: usize,
    /// The greatest number of bytes that an object may take on the wire.
    pub(crate) max_object_bytes: usize,
}

impl WorldLimits {
    pub(super) fn max_object_bits(&self) -> u64 {
        self.max_object_bytes as u64 * 8
    }
}

/// The reason why the server cannot return a live object.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Absence {
    /// The object does not exist.
    Gone,
    /// The object lives outside the server, or is of another class.
    NotOwn,
}

impl Objects for Store {
    fn contains(&self, guid: Guid) -> bool {
        if let Some(number) = guid.asset_number() {
            return self.assets.contains(number);
        }
        self.slot_of(ObjectRef::<()>::new(guid)).is_some()
    }
}

impl Store {
    /// Frees the memory that was not needed recently. Returns the number of slots for which memory is kept.
    pub(super) fn end_round(&mut self) -> usize {
        self.columns.iter_mut().for_each(|column| column.end_round());
        let kept = self.demand.end_round(self.objects.len());
        shrink(&mut self.occupants, kept);
        shrink(&mut self.objects, kept);
        kept
    }

    /// Returns the columns of all classes, in the order of registration.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &dyn Column> {
        self.columns.iter().map(|column| &**column)
    }

    pub(crate) fn slot_bytes(&self) -> usize {
        self.occupants.capacity() * size_of::<Occupant>() + self.objects.capacity() * size_of::<Object>()
    }

    pub(crate) fn column(&self, class: u16) -> &dyn Column {
        &*self.columns[class as usize]
    }

    /// Returns the column of the class with this number, if there is one.
    pub(crate) fn get_column(&self, class: u16) -> Option<&dyn Column> {
        self.columns.get(usize::from(class)).map(|column| &**column)
    }

    /// Returns the number of the class of `T`, if it is registered.
    pub(crate) fn class_of<T: Replicated>(&self) -> Option<u16> {
        self.by_type.get(&TypeId::of::<T>()).copied()
    }

    pub(crate) fn has_class<T: Replicated>(&self, class: u16) -> bool {
        self.columns.get(class as usize).is_some_and(|column| column.shadows().is::<Shadows<T>>())
    }

    /// Returns the column of the class of `T`, if the server owns the live objects of this class.
    pub(crate) fn own<T: Replicated>(&self) -> Option<&OwnColumn<T>> {
        self.columns.get(self.class_of::<T>()? as usize)?.downcast_ref()
    }

    /// Returns the shadows (the objects' values at the last comparison) of the class of `T`.
    pub(crate) fn shadows<T: Replicated>(&self) -> Option<&Shadows<T>> {
        self.columns.get(self.class_of::<T>()? as usize)?.shadows().downcast_ref()
    }

    pub(crate) fn shadows_mut<T: Replicated>(&mut self) -> Option<&mut Shadows<T>> {
        let class = self.class_of::<T>()?;
        self.columns.get_mut(class as usize)?.shadows_mut().downcast_mut()
    }

    /// Returns the slot of an object, if the object exists.
    pub(crate) fn slot_of<T: ?Sized>(&self, object: ObjectRef<T>) -> Option<u32> {
        let guid = object.guid()?;
        let occupant = self.occupants.get(guid.slot() as usize)?;
        occupant.is(guid).then_some(guid.slot())
    }

    /// Returns the object in a slot, or the last object that was in the slot.
    #[inline]
    pub(crate) fn occupant(&self, slot: u32) -> Occupant {
        self.occupants[slot as usize]
    }

    pub(crate) fn occupants(&self) -> &[Occupant] {
        &self.occupants
    }

    /// Returns the slots of `cohort` (up to 64 objects of the same generation) that no newer object uses, as
    /// a bit mask.
    pub(crate) fn still_there(&self, cohort: Cohort) -> u64 {
        let Cohort { word, mask, generation } = cohort;
        let is_last = |slot: &u32| {
            self.occupants.get(*slot as usize).is_some_and(|occupant| occupant.generation == generation)
        };
        slots_of(word, mask).filter(is_last).fold(0, |mask, slot| mask | bit_of(slot))
    }

    pub(crate) fn get<T: Replicated>(&self, object: ObjectRef<T>) -> Result<&T, Absence> {
        let occupant = self.occupant(self.slot_of(object).ok_or(Absence::Gone)?);
        let column = &self.columns[occupant.class as usize];
        let rows = &column.downcast_ref::<OwnColumn<T>>().ok_or(Absence::NotOwn)?.source.0;
        rows.get(occupant.row as usize).ok_or(Absence::Gone)
    }

    /// Returns the number of an object's class, and the object's row in the column of this class.
    pub(super) fn row_of<T: ?Sized>(&self, object: ObjectRef<T>) -> Option<(usize, usize)> {
        let occupant = self.occupant(self.slot_of(object)?);
        Some((occupant.class.into(), occupant.row as usize))
    }

    /// Returns the column that contains the object in `slot`.
    pub(crate) fn column_of(&self, slot: u32) -> &dyn Column {
        self.column(self.occupant(slot).class)
    }

    pub(crate) fn object_mut(&mut self, slot: u32) -> (&mut Object, &ConditionMasks) {
        let class = self.occupant(slot).class;
        (&mut self.objects[slot as usize], self.columns[class as usize].conditions())
    }

    pub(crate) fn conditions(&self, slot: u32) -> &ConditionMasks {
        self.columns[self.occupant(slot).class as usize].conditions()
    }

    pub(crate) fn class_list(&self, messages: impl Iterator<Item = ChannelTerms>) -> ClassList {
        let entries = self.columns.iter().map(|column| (column.program().layout(), column.begin_sums()));
        ClassList::new(entries, messages)
    }

    /// Marks a property of an object of the class `T`, so that it is compared at the next update if it is a
    /// `push` property (S124). Returns whether the object in the slot is of this class.
    #[inline]
    pub(crate) fn mark_property<T: Replicated>(&mut self, slot: u32, property: PropertyIndex) -> bool {
        let Occupant { class, row, .. } = self.occupant(slot);
        let shadows = self.columns[usize::from(class)].shadows_mut().downcast_mut::<Shadows<T>>();
        shadows.map(|shadows| shadows.mark(row, property)).is_some()
    }

    /// Returns whether an object was torn off, and the comparison has seen its last state.
    pub(crate) fn has_last_state(&self, slot: u32) -> bool {
        self.objects[slot as usize].tear_off == TearOff::Frozen
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    #[test]
    fn r18_an_object_of_another_generation_is_not_there() {
        let of = |generation| NonZeroU32::new(generation).expect("it is not zero");
        let occupants = [1, 2, 1].map(|generation| Occupant::new(of(generation))).to_vec();
        let store = Store { occupants, ..Store::default() };
        let there =
            |mask, generation| store.still_there(Cohort { word: 0, mask, generation: of(generation) });
        assert_eq!((there(0b1111, 1), there(0b1111, 2), there(0b100, 1)), (0b101, 0b010, 0b100));
        assert_eq!(store.still_there(Cohort { word: 7, mask: 1, generation: of(1) }), 0);
    }
}
