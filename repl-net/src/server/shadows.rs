//! The shadows of the objects of one class. A shadow has the values of the last comparison. Everything that
//! is sent is written from shadows.
//!
//! *Invariant:* row `n` of each vector belongs to the same object.

use repl_core::__private::preload;
use repl_core::{Class, HandleSet, PropertyIndex, Replicated, Shadow};

use super::cells::area::{Area, Position};
use super::cells::positions::Positions;
use super::prepare::Prepare;
use super::priority::Prioritize;
use super::verdicts::Decide;
use crate::body::growth::{Demand, push_with, shrink};
use crate::session::archetype::Archetype;

/// The shadows of the class `T`, and all other data of a column, except for the live objects.
pub(crate) struct Shadows<T> {
    pub(crate) class: Class<T>,
    pub(crate) rows: Vec<T>,
    /// The seen bytes of all objects (their quantised values at the last comparison), one after another. See
    /// [`Shadow::seen`].
    seen: Vec<u8>,
    pub(crate) slots: Vec<u32>,
    /// The `push` properties that were marked as changed and have not been compared since then (S124). Empty
    /// if the class has no `push` properties.
    pub(crate) marks: Vec<HandleSet>,
    pub(crate) archetypes: Vec<Archetype<T>>,
    /// The number of rows that were needed recently.
    demand: Demand,
    /// Computes the position of an object. `None` if the class has no area, or if the user places its
    /// objects.
    pub(crate) locate: Option<Box<dyn Locate<T>>>,
    /// Computes the priority of an object for a connection. `None` if the class has no such function.
    pub(crate) prioritize: Option<Prioritize<T>>,
    /// Decides which connections see an object. `None` if the class has no such function.
    pub(crate) decide: Option<Box<dyn Decide<T>>>,
    /// Prepares an object for its comparison. `None` if the class has no such function.
    pub(crate) prepare: Option<Box<dyn Prepare<T>>>,
}

/// A function that returns the position of an object.
pub(crate) trait Locate<T>: Send + Sync {
    fn position(&self, object: &T) -> Position;
    /// Computes the positions of some objects from their shadows in `rows`, and puts them into `positions`.
    /// Each object in `changed` is a slot and a row. One call handles many objects, because a dynamic call
    /// takes longer than the work for one object.
    fn locate(&self, rows: &[T], changed: &[(u32, u32)], area: &Area, positions: &mut Positions);
}

impl<T, F: Fn(&T) -> Position + Send + Sync> Locate<T> for F {
    fn position(&self, object: &T) -> Position {
        self(object)
    }

    fn locate(&self, rows: &[T], changed: &[(u32, u32)], area: &Area, positions: &mut Positions) {
        positions.update(area, changed.iter().map(|&(slot, row)| (slot, self(&rows[row as usize]))));
    }
}

impl<T: Replicated> Shadows<T> {
    /// Returns shadows without rows. Each object may take at most `max_bits`.
    pub(crate) fn new(max_bits: u64) -> Self {
        let mut class = Class::new();
        class.hold_items_within(max_bits);
        Self {
            class,
            rows: Vec::new(),
            seen: Vec::new(),
            slots: Vec::new(),
            marks: Vec::new(),
            archetypes: vec![Box::new(T::initial)],
            demand: Demand::default(),
            locate: None,
            prioritize: None,
            decide: None,
            prepare: None,
        }
    }

    /// Returns how many bytes the shadows, their seen bytes and their marks take. Heap memory that the values
    /// themselves own is not counted.
    pub(crate) fn bytes(&self) -> usize {
        let marks = self.marks.iter().map(HandleSet::heap_bytes).sum::<usize>();
        self.rows.capacity() * size_of::<T>()
            + self.seen.capacity()
            + self.slots.capacity() * size_of::<u32>()
            + self.marks.capacity() * size_of::<HandleSet>()
            + marks
    }

    /// Adds a shadow to the end of the column, with the values of an archetype (S29, S69).
    #[inline]
    pub(crate) fn push(&mut self, slot: u32, archetype: u32) {
        let Self { class, rows, seen, archetypes, .. } = self;
        push_with(rows, || match archetypes.get(archetype as usize) {
            Some(make) if archetype > 0 || class.has_arrays() => class.shadow_of(&make()),
            _ => T::initial(),
        });
        if let (1.., Some(shadow)) = (class.seen_bytes(), rows.last()) {
            class.push_seen(shadow, seen);
        }
        push_with(&mut self.slots, || slot);
        if self.has_marks() {
            push_with(&mut self.marks, HandleSet::new);
        }
    }

    pub(crate) fn reserve(&mut self, additional: usize) {
        self.rows.reserve(additional);
        self.seen.reserve(additional * self.class.seen_bytes());
        self.slots.reserve(additional);
        if self.has_marks() {
            self.marks.reserve(additional);
        }
        self.demand.reserve(self.rows.len() + additional);
    }

    /// Frees the memory that was not needed recently. Returns the number of rows for which memory is kept.
    pub(crate) fn end_round(&mut self) -> usize {
        let kept = self.demand.end_round(self.rows.len());
        shrink(&mut self.rows, kept);
        shrink(&mut self.seen, kept * self.class.seen_bytes());
        shrink(&mut self.slots, kept);
        shrink(&mut self.marks, kept);
        kept
    }

    /// Removes a row and moves the last row to the index of the removed row.
    pub(crate) fn swap_remove(&mut self, row: usize) {
        self.demand.note(self.rows.len());
        let (bytes, last) = (self.class.seen_bytes(), self.rows.len() - 1);
        self.seen.copy_within(last * bytes.., row * bytes);
        self.seen.truncate(last * bytes);
        self.rows.swap_remove(row);
        self.slots.swap_remove(row);
        if self.has_marks() {
            self.marks.swap_remove(row);
        }
    }

    /// Returns the class, and the shadow of the object in a row with its seen bytes, to compare the object.
    #[inline]
    pub(crate) fn in_row(&mut self, row: usize, is_new: bool) -> (&Class<T>, Shadow<'_, T>) {
        let Self { class, rows, seen, .. } = self;
        let bytes = class.seen_bytes();
        (class, Shadow { values: &mut rows[row], seen: &mut seen[row * bytes..][..bytes], is_new })
    }

    /// Returns the seen bytes of all objects, one after another.
    pub(crate) fn seen(&self) -> &[u8] {
        &self.seen
    }

    /// Returns whether the class has `push` properties.
    #[inline]
    pub(crate) fn has_marks(&self) -> bool {
        !self.class.conditions().push().is_empty()
    }

    /// Marks a property of the object in a row, so that it is compared at the next update if it is a `push`
    /// property (S124).
    #[inline]
    pub(crate) fn mark(&mut self, row: u32, property: PropertyIndex) {
        let conditions = self.class.conditions();
        let handles = conditions.handles_of(property);
        if handles.intersects(conditions.push()) {
            self.marks[row as usize].union(handles);
        }
    }

    /// Marks the `push` properties in `edited` of the object in a row.
    pub(crate) fn mark_handles(&mut self, row: u32, mut edited: HandleSet) {
        if let Some(marks) = self.marks.get_mut(row as usize) {
            edited.intersect(self.class.conditions().push());
            marks.union(&edited);
        }
    }

    #[inline]
    pub(crate) fn preload_marks(&self, row: usize) {
        self.marks.get(row).into_iter().for_each(preload);
    }

    /// Checks that the values of an archetype fit into `max_bytes`. Otherwise clients could not store any
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
