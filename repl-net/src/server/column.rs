//! Columns of objects of the same class. The shadows of all objects of one class form a column. The live
//! objects of a column come from its source: either the server owns them, or the user passes them to the
//! server.
//!
//! *Invariant:* row `n` of each vector belongs to the same object, both in the vectors of the shadows and in
//! the rows of the source.

use std::any::Any;
use std::borrow::Cow;

use repl_core::{
    BitWriter, Changelist, Class, ConditionMasks, HandleSet, Program, Refusal, Replicated, WriteError,
};

use super::cells::area::{Area, Position};
use super::cells::positions::Positions;
use super::comparison::{Comparison, Outcome};
use super::priority::{Prioritize, Viewer};
use crate::session::archetype::Archetype;

/// All objects of one class, without their Rust type.
pub(crate) trait Column: Any + Send + Sync {
    fn program(&self) -> &Program;
    fn conditions(&self) -> &ConditionMasks;
    /// Compares the objects in `slots` with their shadows, up to the first object of another class than
    /// `class`, the number of this column. Returns how many objects were compared. A method for many objects,
    /// so that the compiler knows the type of all of them.
    fn compare(&mut self, class: u16, slots: &[u32], comparison: &mut Comparison<'_>) -> usize;
    /// Calls `found` with the slot of each object that differs from its shadow.
    fn scan(&self, found: &mut dyn FnMut(u32));
    /// Writes the values of the properties in the changelist `list` from the shadow. [`Class::write_values`]
    /// describes this in detail.
    fn write_values(&self, row: u32, list: &Changelist, writer: &mut BitWriter) -> Result<(), WriteError>;
    fn prune(&self, row: u32, list: &mut Changelist);
    fn insert_whole(&self, handles: &HandleSet, list: &mut Changelist);
    /// Returns the total number of items and entries in the collections and maps among `handles` of the
    /// object in a row. [`Class::items_of`] has the details of this function.
    fn items_of(&self, row: u32, handles: &HandleSet) -> usize;
    /// Returns how many archetypes the class has, with the one of `Default`.
    fn archetypes(&self) -> u32;
    /// Returns the checksums of the initial values of all properties, for each archetype. The first checksums
    /// belong to the archetype that has the values of `Default`. [`Class::begin_sums`] describes the
    /// checksums.
    fn begin_sums(&self) -> Vec<Vec<u64>>;
    /// Puts the positions of some objects into `positions`, according to their shadows. Each object in
    /// `changed` is a slot and a row. `area` is the area of the class.
    fn locate(&self, changed: &[(u32, u32)], area: &Area, positions: &mut Positions);
    /// Returns the position of the object in a row, or `None` if the class has no area. If the server owns
    /// the live object, this is its position, otherwise that of its shadow.
    fn position(&self, row: u32) -> Option<Position>;
    /// Returns what the function for the priorities of the class returns for the object in a row, according
    /// to its shadow, or 1 if there is no function.
    fn prioritize(&self, row: u32, viewer: &Viewer<'_>) -> f32;
    /// Removes an object from the column. Returns the slot of the object that moved to the removed row.
    fn remove(&mut self, row: u32) -> Option<u32>;
    fn as_any(&self) -> &dyn Any;
    fn as_any_mut(&mut self) -> &mut dyn Any;
    /// Returns the [`Shadows`] of the column, whatever the source of its live objects is.
    fn shadows(&self) -> &dyn Any;
    fn shadows_mut(&mut self) -> &mut dyn Any;
}

/// Stores the live objects of the class `T`, or has access to them. Only comparisons need live objects,
/// because everything that is sent is written from the shadows.
pub(crate) trait Source<T>: Default + Any + Send + Sync {
    /// Returns the panic message for a call that expects this source, although `class` was registered with
    /// another source.
    fn when_another(class: &str) -> String;
    /// Compares the properties in `scope` of the object in a row with the object's shadow, as
    /// [`Class::compare`] describes.
    fn compare(
        &mut self,
        class: &Class<T>,
        shadow: &mut T,
        row: usize,
        scope: &HandleSet,
        outcome: Outcome<'_>,
    );
    /// Prefetches a row, which will be compared soon, into the processor's cache.
    fn preload_row(&self, shadows: &Shadows<T>, row: usize);
    /// Prefetches the heap memory of a row into the processor's cache. The row itself must have been
    /// prefetched before its heap memory.
    fn preload_values(&self, shadows: &Shadows<T>, row: usize);
    /// Returns the handles of the `push` properties of the object in a row that count as marked, because they
    /// contain a fast array that was written to. [`Class::touched`] has the details of this function.
    fn touched(&self, shadows: &Shadows<T>, row: usize) -> HandleSet;
    /// Removes from `scope` the properties that would make the object in a row larger than `max_bits`, and
    /// returns them as refusals. [`Class::keep_within`] has the details of this function.
    fn keep_within(
        &self,
        shadows: &Shadows<T>,
        max_bits: u64,
        row: usize,
        scope: &mut Cow<'_, HandleSet>,
    ) -> Vec<Refusal>;
    /// Does what [`Column::scan`] does.
    fn scan(&self, shadows: &Shadows<T>, found: &mut dyn FnMut(u32));
    /// Returns the live object in a row, if the server owns it.
    fn live(&self, row: usize) -> Option<&T>;
    /// Removes a row and moves the last row to the index of the removed row.
    fn swap_remove(&mut self, row: usize);
}

/// The shadows of the class `T`, and all other data of a column that does not depend on the source.
pub(crate) struct Shadows<T> {
    pub(crate) class: Class<T>,
    pub(crate) rows: Vec<T>,
    pub(crate) slots: Vec<u32>,
    archetypes: Vec<Archetype<T>>,
    /// Returns the position of an object, or `None` if the class has no area.
    pub(crate) locate: Option<Box<dyn Locate<T>>>,
    /// Returns the priority of an object for a connection.
    pub(crate) prioritize: Option<Prioritize<T>>,
}

/// A function that returns the position of an object.
pub(crate) trait Locate<T>: Send + Sync {
    /// Returns the position of an object.
    fn position(&self, object: &T) -> Position;
    /// Does what [`Column::locate`] does, with the shadows in `rows`. A method for many objects, because each
    /// call of an unknown function takes longer than the work for one object.
    fn locate(&self, rows: &[T], changed: &[(u32, u32)], area: &Area, positions: &mut Positions);
}

impl<T, F: Fn(&T) -> Position + Send + Sync> Locate<T> for F {
    fn position(&self, object: &T) -> Position {
        self(object)
    }

    fn locate(&self, rows: &[T], changed: &[(u32, u32)], area: &Area, positions: &mut Positions) {
        for &(slot, row) in changed {
            positions.update(area, slot, self(&rows[row as usize]));
        }
    }
}

impl<T: Replicated> Shadows<T> {
    fn new(max_bits: u64) -> Self {
        let mut class = Class::new();
        class.hold_items_within(max_bits);
        Self {
            class,
            rows: Vec::new(),
            slots: Vec::new(),
            archetypes: vec![Box::new(T::initial)],
            locate: None,
            prioritize: None,
        }
    }

    /// Checks that an archetype's values fit into `max_bytes`, because clients could otherwise not hold any
    /// object with this archetype (R21).
    ///
    /// # Panics
    /// Panics if the values of the archetype do not fit into `max_bytes`.
    #[track_caller]
    pub(crate) fn assert_fits(&self, archetype: &T, max_bytes: usize) {
        let bytes = self.class.most_bits_of(archetype).div_ceil(8);
        assert!(
            bytes <= max_bytes as u64,
            "a `{}` takes up to {bytes} bytes as it begins, but `max_object_bytes` is {max_bytes}: raise that here and on clients, \
             or make the object smaller",
            T::LAYOUT.name(),
        );
    }

    /// Returns the position of an object, if the class has an area.
    pub(crate) fn position_of(&self, object: &T) -> Option<Position> {
        self.locate.as_ref().map(|locate| locate.position(object))
    }

    /// Adds an archetype (a set of initial values) and returns its number.
    pub(crate) fn add_archetype(&mut self, archetype: Archetype<T>) -> u32 {
        self.archetypes.push(archetype);
        self.archetypes.len() as u32 - 1
    }

    /// Returns whether the class has an archetype with this number.
    pub(crate) fn has_archetype(&self, number: u32) -> bool {
        (number as usize) < self.archetypes.len()
    }
}

/// The column of the class `T`. The live objects of the class come from the source `S`.
pub(crate) struct TypedColumn<T, S> {
    pub(crate) shadows: Shadows<T>,
    pub(crate) source: S,
}

impl<T: Replicated, S: Source<T>> TypedColumn<T, S> {
    /// Returns an empty column for objects of at most `max_bits`.
    pub(crate) fn new(max_bits: u64) -> Self {
        Self { shadows: Shadows::new(max_bits), source: S::default() }
    }

    /// Adds an object to the column. The shadow of the object starts with the archetype's values (S29, S69).
    /// The function `add` adds the object's row to the source. `insert` returns the number of the object's
    /// row.
    pub(crate) fn insert(&mut self, slot: u32, archetype: u32, add: impl FnOnce(&mut S)) -> u32 {
        let Self { shadows, source } = self;
        let archetype = shadows.archetypes.get(archetype as usize).map_or_else(T::initial, |make| make());
        shadows.rows.push(shadows.class.shadow_of(&archetype));
        shadows.slots.push(slot);
        add(source);
        shadows.rows.len() as u32 - 1
    }
}

impl<T: Replicated, S: Source<T>> Column for TypedColumn<T, S> {
    fn program(&self) -> &Program {
        self.shadows.class.program()
    }

    fn conditions(&self) -> &ConditionMasks {
        self.shadows.class.conditions()
    }

    fn compare(&mut self, class: u16, slots: &[u32], comparison: &mut Comparison<'_>) -> usize {
        comparison.run(self, class, slots)
    }

    fn scan(&self, found: &mut dyn FnMut(u32)) {
        self.source.scan(&self.shadows, found);
    }

    fn write_values(&self, row: u32, list: &Changelist, writer: &mut BitWriter) -> Result<(), WriteError> {
        self.shadows.class.write_values(&self.shadows.rows[row as usize], list, writer)
    }

    fn prune(&self, row: u32, list: &mut Changelist) {
        self.shadows.class.prune(&self.shadows.rows[row as usize], list);
    }

    fn insert_whole(&self, handles: &HandleSet, list: &mut Changelist) {
        self.shadows.class.insert_whole(handles, list);
    }

    fn items_of(&self, row: u32, handles: &HandleSet) -> usize {
        self.shadows.class.items_of(&self.shadows.rows[row as usize], handles)
    }

    fn archetypes(&self) -> u32 {
        self.shadows.archetypes.len() as u32
    }

    fn begin_sums(&self) -> Vec<Vec<u64>> {
        let Shadows { class, archetypes, .. } = &self.shadows;
        archetypes.iter().map(|make| class.begin_sums(&make())).collect()
    }

    fn locate(&self, changed: &[(u32, u32)], area: &Area, positions: &mut Positions) {
        if let Some(locate) = &self.shadows.locate {
            locate.locate(&self.shadows.rows, changed, area, positions);
        }
    }

    fn position(&self, row: u32) -> Option<Position> {
        let object = self.source.live(row as usize).or_else(|| self.shadows.rows.get(row as usize))?;
        self.shadows.position_of(object)
    }

    fn prioritize(&self, row: u32, viewer: &Viewer<'_>) -> f32 {
        let Shadows { prioritize, rows, .. } = &self.shadows;
        prioritize.as_ref().map_or(1.0, |prioritize| prioritize(&rows[row as usize], viewer))
    }

    fn remove(&mut self, row: u32) -> Option<u32> {
        let (row, shadows) = (row as usize, &mut self.shadows);
        self.source.swap_remove(row);
        shadows.rows.swap_remove(row);
        shadows.slots.swap_remove(row);
        shadows.slots.get(row).copied()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn shadows(&self) -> &dyn Any {
        &self.shadows
    }

    fn shadows_mut(&mut self) -> &mut dyn Any {
        &mut self.shadows
    }
}
