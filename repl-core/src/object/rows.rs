//! Rows: the objects of one class, one after another in memory, without their Rust type.
//!
//! *Invariant:* each row is an object of the type that the program describes, so the values of its commands
//! are at their offsets. [`Steps`] are used only for rows with the layout for which they were made.
#![expect(unsafe_code, reason = "finds objects and their values in memory")]

use std::marker::PhantomData;

use super::joined::JoinedLeaves;
use super::level::{Level, Slot, entries_from};
use crate::bits::{BitWriter, WriteError};
use crate::ids::handles::HandleSet;
use crate::schema::joined::Joined;
use crate::schema::layout::Layout;
use crate::schema::program::Program;

/// The objects of one class, which can only be read. The functions of rows are compiled once, and not for
/// each class. [`Class::rows`](crate::Class::rows) returns rows.
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    program: &'a Program,
    first: *const u8,
    len: usize,
    /// The distance between two objects in bytes.
    stride: usize,
    objects: PhantomData<&'a ()>,
}

/// How the values of a set of properties are written, found out once for many objects of a class.
///
/// Most objects that change in a tick change in the same properties as the object before. Finding the steps
/// costs about as much as writing one object without them, and writing an object by its steps a fraction of
/// this.
#[derive(Debug, Default)]
pub struct Steps {
    /// The layout of the objects, if the steps were found.
    layout: Option<&'static Layout>,
    handles: HandleSet,
    list: Vec<Step>,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Writes the joined leaves that begin at an offset.
    Joined { offset: u32, joined: Joined },
    /// Writes what is at a handle.
    Slot(u32),
}

impl<'a> Rows<'a> {
    /// # Safety
    /// `program` is the program of the type `T`.
    #[inline]
    pub(crate) unsafe fn of<T>(rows: &'a [T], program: &'a Program) -> Self {
        let (first, len) = (rows.as_ptr().cast(), rows.len());
        Self { program, first, len, stride: size_of::<T>(), objects: PhantomData }
    }

    /// Returns a pointer to the object in a row.
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

    /// Returns the object in a row.
    ///
    /// # Panics
    /// Panics if there is no such row.
    #[inline]
    pub(crate) fn level(&self, row: u32) -> Level<'a> {
        // SAFETY: the object has the type of the program and is borrowed for `'a`.
        unsafe { Level::at(self.at(row), self.program) }
    }

    /// Makes `steps` the steps of the properties in `handles` for these rows, unless they are already. Uses the
    /// memory of the earlier steps again.
    #[inline]
    pub fn find_steps(&self, handles: &HandleSet, steps: &mut Steps) {
        if !(steps.are_for(self.program) && steps.handles == *handles) {
            steps.find(self.program, handles);
        }
    }

    /// Writes the values of an object by steps. `slot` writes a value that is not plain memory.
    ///
    /// # Errors
    /// Returns the first error of `slot`.
    ///
    /// # Panics
    /// Panics if there is no such row, or if the steps were found for objects of another class.
    #[inline]
    pub(crate) fn write(
        &self,
        row: u32,
        steps: &Steps,
        writer: &mut BitWriter,
        mut slot: impl FnMut(u32, Option<Slot<'a>>, &mut BitWriter) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        assert!(steps.are_for(self.program), "the steps of another class");
        let object = self.at(row);
        for step in &steps.list {
            match *step {
                Step::Joined { offset, joined } => {
                    // SAFETY: the steps were found for objects with this layout, so the offset lies inside
                    // the object.
                    let first = unsafe { object.add(offset as usize) };
                    // SAFETY: the program joins leaves that lie without gaps and have no padding. The object
                    // is borrowed for `'a`.
                    let memory = unsafe { std::slice::from_raw_parts(first, joined.bytes.into()) };
                    JoinedLeaves { joined, entries: &[], memory }.write(writer);
                }
                Step::Slot(handle) => slot(handle, self.level(row).slot(handle), writer)?,
            }
        }
        Ok(())
    }
}

impl Steps {
    /// Returns the properties whose values the steps write.
    #[must_use]
    pub fn handles(&self) -> &HandleSet {
        &self.handles
    }

    #[inline]
    fn are_for(&self, program: &Program) -> bool {
        self.layout.is_some_and(|layout| std::ptr::eq(layout, program.layout()))
    }

    fn find(&mut self, program: &Program, handles: &HandleSet) {
        self.layout = Some(program.layout());
        self.handles.clone_from(handles);
        self.list.clear();
        for (first, count) in handles.stretches() {
            let mut entries = entries_from(program.own_table(), first, count);
            let mut handle = first;
            while let [entry, ..] = entries {
                let (step, leaves) = match Program::joined(entries) {
                    Some(joined) => (Step::Joined { offset: entry.offset, joined }, joined.leaves.into()),
                    None => (Step::Slot(handle), 1),
                };
                self.list.push(step);
                entries = &entries[leaves..];
                handle += leaves as u32;
            }
        }
    }
}
