//! Classes: a class is an object type at run time, with the functions that compare, write and read its
//! objects.
//!
//! *Invariant:* a class is made from the tables of its own type. [`Class::new`] checks that the tables belong
//! to the type. So the functions of a class take plain references and are safe.
#![expect(unsafe_code, reason = "vouches for a layout being the object's own")]
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

mod begin;
mod by_layout;
mod comparing;
mod decoding;
mod encoding;
mod limits;
mod restoring;
mod tables;

pub use by_layout::ByLayout;
pub use comparing::Shadow;
pub use decoding::DecodeError;

use std::marker::PhantomData;

use crate::diff::places::Places;
use crate::ids::handles::HandleSet;
use crate::object::copy::copy_slots;
use crate::object::equality::{Answer, differs};
use crate::object::heap::element_bytes;
use crate::object::level::{Level, LevelMut};
use crate::object::rows::Rows;
use crate::schema::condition_masks::ConditionMasks;
use crate::schema::plan::Planned;
use crate::schema::program::Program;
use crate::schema::replicated::Replicated;
use tables::Tables;

/// An object type at run time.
pub struct Class<T> {
    tables: Tables,
    places: Places<T>,
    objects: PhantomData<fn(&mut T)>,
}

impl<T: Replicated> Default for Class<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Replicated> Class<T> {
    /// Makes the class of the object type `T`. If `T` is generic, `new` makes the program from the layout of
    /// `T`.
    ///
    /// # Panics
    /// Panics if `T::program` returns the program of another type. The code that the derive generates never
    /// causes this panic.
    #[must_use]
    pub fn new() -> Self {
        let tables = Tables::new(T::program(), T::PLAN.overflows());
        assert!(tables.program.layout().describes::<T>(), "the program of another type");
        let places = Places::of(&tables.program, tables.conditions.ordinary());
        Self { places, tables, objects: PhantomData }
    }

    /// Returns the program of the class, which is the flat table of commands.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.tables.program
    }

    /// Returns the masks of handles that are compared, and the masks of handles that are sent under each
    /// condition.
    #[must_use]
    pub fn conditions(&self) -> &ConditionMasks {
        &self.tables.conditions
    }

    /// Returns the handles of the properties that are sent as differences.
    #[must_use]
    pub fn deltas(&self) -> &HandleSet {
        &self.tables.deltas
    }

    pub(crate) fn level<'a>(&'a self, object: &'a T) -> Level<'a> {
        // SAFETY: `new` has checked that the program belongs to `T`.
        unsafe { Level::of(object, &self.tables.program) }
    }

    fn level_mut<'a>(&'a self, object: &'a mut T) -> LevelMut<'a> {
        // SAFETY: `new` checked that the program belongs to `T`.
        unsafe { LevelMut::of(object, &self.tables.program) }
    }

    /// Returns these shadows as rows, which do not have the type of the class.
    #[inline]
    #[must_use]
    pub fn rows<'a>(&'a self, shadows: &'a [T]) -> Rows<'a> {
        // SAFETY: `new` has checked that the program belongs to `T`.
        unsafe { Rows::of(shadows, &self.tables.program) }
    }

    /// Returns how many bytes of memory the elements of the replicated arrays, collections and `String`s of
    /// an object take, at any depth. Three kinds of memory do not count: spare capacity, other data of a
    /// collection than its elements, and memory inside a value that is sent as a unit. Keys count with their
    /// bytes on the wire. Costs O(size of the object).
    #[must_use]
    pub fn element_bytes(&self, object: &T) -> usize {
        element_bytes(self.level(object))
    }

    /// Returns whether a property of `handles` has different values in two objects. Costs O(values compared).
    #[must_use]
    pub fn differs_in(&self, one: &T, other: &T, handles: &HandleSet) -> bool {
        let (one, other) = (self.level(one), self.level(other));
        handles.iter().any(|handle| differs(one, other, handle, Answer::Base))
    }

    /// Copies the properties of `handles` from `from` to `to`.
    pub fn copy(&self, from: &T, to: &mut T, handles: &HandleSet) {
        copy_slots(self.level(from), &mut self.level_mut(to), handles.iter());
    }
}
