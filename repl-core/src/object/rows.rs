//! Rows: the objects of one class, one after another in memory, without their Rust type.
//!
//! *Invariant:* each row is an object of the type that the program describes, so the values of its commands
//! are at their offsets. A [`WriteRecipe`] is used only for rows with the layout for which it was made.
#![expect(unsafe_code, reason = "finds objects and their values in memory")]

use std::marker::PhantomData;

use super::level::Level;
use super::write_recipe::WriteRecipe;
use crate::bits::{BitWriter, WriteError};
use crate::ids::handles::HandleSet;
use crate::schema::program::Program;

/// The objects of one class, read-only. The functions of rows are compiled once, and not for each class.
/// [`Class::rows`](crate::Class::rows) returns rows.
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    program: &'a Program,
    first: *const u8,
    len: usize,
    /// The distance between two objects in bytes.
    stride: usize,
    objects: PhantomData<&'a ()>,
}

impl<'a> Rows<'a> {
    /// # Safety
    /// `program` is the program of the type `T`.
    #[inline]
    pub(crate) unsafe fn of<T>(rows: &'a [T], program: &'a Program) -> Self {
        let (first, len) = (rows.as_ptr().cast(), rows.len());
        Self { program, first, len, stride: size_of::<T>(), objects: PhantomData }
    }

    /// Returns a pointer to the object with the index `row`.
    ///
    /// # Panics
    /// Panics if there is no such row.
    #[inline]
    fn at(&self, row: u32) -> *const u8 {
        let row = row as usize;
        assert!(row < self.len, "there are {} rows", self.len);
        // SAFETY: the row is one of the objects that `of` has borrowed for `'a`.
        unsafe { self.first.add(row * self.stride) }
    }

    /// Returns the object with the index `row`.
    ///
    /// # Panics
    /// Panics if there is no such row.
    #[inline]
    pub(crate) fn level(&self, row: u32) -> Level<'a> {
        // SAFETY: the object has the type of the program and is borrowed for `'a`.
        unsafe { Level::at(self.at(row), self.program) }
    }

    /// Makes `recipe` the recipe of the properties in `handles` for these rows, if it is not already this
    /// recipe. Reuses the memory of the earlier recipe.
    #[inline]
    pub fn make_recipe(&self, handles: &HandleSet, recipe: &mut WriteRecipe) {
        if !(recipe.is_for(self.program) && recipe.handles() == handles) {
            recipe.make(self.program, handles);
        }
    }

    /// Writes the values of an object with a recipe. `by_command` writes the value at a handle that is not
    /// plain memory.
    ///
    /// # Errors
    /// Returns the first error of `by_command`.
    ///
    /// # Panics
    /// Panics if there is no such row, or if the recipe was made for objects of another class.
    #[inline]
    pub(crate) fn write(
        &self,
        row: u32,
        recipe: &WriteRecipe,
        writer: &mut BitWriter,
        mut by_command: impl FnMut(Level<'a>, u32, &mut BitWriter) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        assert!(recipe.is_for(self.program), "the recipe of another class");
        let by_command = |handle, writer: &mut BitWriter| by_command(self.level(row), handle, writer);
        // SAFETY: the recipe was made for objects with the layout of this object, which is borrowed for `'a`.
        unsafe { recipe.write(self.at(row), writer, by_command) }
    }
}
