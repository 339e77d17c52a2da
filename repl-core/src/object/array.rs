//! Arrays of an object: their lengths, and their elements as levels. An enum whose variants are sent field by
//! field is an array, too: its only element has the fields of the active variant.
//!
//! *Invariant:* an element has the handle table of its array's command. For an enum, this is the command of
//! the variant that is active.
#![expect(unsafe_code, reason = "reads and writes the elements of arrays")]

use std::marker::PhantomData;
use std::ops::Range;

use crate::bits::count::write_count;
use crate::bits::{BitWriter, WriteError};
use crate::object::level::{Array, Level, LevelMut, Slot, active_variant, nests};
use crate::schema::command::CommandKind;

impl LevelMut<'_> {
    /// Changes the [count](Array::count) of the array at `handle`. Returns the range from the old length of
    /// the array to its new length, or `None` if the property at `handle` is not an array. For an enum of
    /// which another variant was active, the old length is zero.
    pub(crate) fn resize(&mut self, handle: u32, count: usize) -> Option<Range<usize>> {
        let (kind, at) = self.at(handle)?;
        let (shape, old, len) = match kind {
            CommandKind::Array(array) => {
                // SAFETY: the command guarantees that `at` points to an array of this shape.
                let (_, old) = unsafe { (array.shape.parts)(at) };
                (array.shape, old, count)
            }
            CommandKind::Enum(command) => {
                // SAFETY: the command guarantees that `at` points to an enum of this shape.
                let active = unsafe { (command.shape.active)(at) };
                (&command.shape.array, usize::from(active == count), 1)
            }
            _ => return None,
        };
        if old != len {
            // SAFETY: `at` points to an array or enum of this shape, borrowed mutably.
            unsafe { (shape.resize)(at, count) };
        }
        Some(old..len)
    }

    /// Replaces the enum at `handle` by another of its variants with initial values, and calls `change` with
    /// the new variant. If `change` returns `false`, the enum gets its old value back. Returns what `change`
    /// returned, or `None` if there is no such enum or variant.
    pub(crate) fn replace(
        &mut self,
        handle: u32,
        variant: usize,
        change: impl FnOnce(LevelMut<'_>) -> bool,
    ) -> Option<bool> {
        let (CommandKind::Enum(command), at) = self.at(handle)? else { return None };
        let array = self.program.variant(command, variant)?;
        let table = self.program.table(array.table, array.handles);
        let (mut change, mut result) = (Some(change), None);
        let mut call = || {
            let level = LevelMut { program: self.program, table, base: at, object: PhantomData };
            result = change.take().map(|change| change(level));
            result == Some(true)
        };
        // SAFETY: the command guarantees that `at` points to an enum of this shape, which is borrowed
        // mutably. While `call` runs, the variant is active, so the level has the table of the value at `at`.
        unsafe { (command.shape.replace)(at, variant, &mut call) };
        result
    }

    pub(crate) fn element(&mut self, handle: u32, index: usize) -> Option<LevelMut<'_>> {
        let (kind, at) = self.at(handle)?;
        let array = match kind {
            CommandKind::Array(array) => array,
            // SAFETY: the command guarantees that `at` points to an enum of this shape.
            CommandKind::Enum(command) => unsafe { active_variant(self.program, command, at) }?,
            _ => return None,
        };
        // SAFETY: `at` points to an array or enum of this shape.
        let (_, len) = unsafe { (array.shape.parts)(at) };
        if index >= len {
            return None;
        }
        // SAFETY: as for the previous `unsafe` block; resizing to the same count moves nothing, and the
        // returned pointer is valid for writes.
        let first = unsafe { (array.shape.resize)(at, array.count(len)) };
        // SAFETY: `index` is below the length, so the element lies inside the array's storage.
        let base = unsafe { first.add(index * array.shape.element.size) };
        let table = self.program.table(array.table, array.handles);
        Some(LevelMut { program: self.program, table, base, object: PhantomData })
    }
}

impl<'a> Array<'a> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the number that is sent before the changes of the array: its length, or the index of the
    /// active variant of an enum.
    pub(crate) fn count(&self) -> usize {
        self.command.count(self.len)
    }

    /// Returns the greatest [`count`](Self::count) that is sent.
    pub(crate) fn max_count(&self) -> u32 {
        self.command.max_len
    }

    /// Writes the [`count`](Self::count).
    ///
    /// # Errors
    /// Returns an error if the array is longer than `max_len` allows.
    pub(crate) fn write_count(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
        if !self.is_variant() {
            return write_count(self.len, self.command.max_len, writer);
        }
        writer.write_below(self.count() as u64, u64::from(self.command.max_len) + 1);
        Ok(())
    }

    /// Returns whether this is an enum.
    pub(crate) fn is_variant(&self) -> bool {
        self.command.variant.is_some()
    }

    /// Returns whether the elements of both arrays have the same properties. The elements of two enums have
    /// different properties if different variants are active. `other` is the same property of another object.
    pub(crate) fn has_elements_of(&self, other: &Array<'_>) -> bool {
        std::ptr::eq(self.command, other.command)
    }

    /// Returns whether more than the [`count`](Self::count) is sent.
    pub(crate) fn has_values(&self) -> bool {
        self.command.has_values(self.len)
    }

    /// Returns the element handle of a property: the number by which changelists and paths name the property
    /// of an element. `handle` is the handle of the property in its element, counted from one.
    pub(crate) fn step(&self, index: usize, handle: u32) -> u32 {
        self.command.step(index, handle)
    }

    /// Returns the index of the element and the handle of the property for an element handle. Returns `None`
    /// if the property belongs to another variant of the enum.
    pub(crate) fn locate(&self, step: u32) -> Option<(usize, u32)> {
        let handles = self.command.handles;
        let within = step.checked_sub(self.command.first_step)?;
        if self.is_variant() && within >= handles {
            return None;
        }
        Some((within.checked_div(handles)? as usize, within % handles + 1))
    }

    /// Returns the property with an element handle.
    pub(crate) fn slot(&self, step: u32) -> Option<Slot<'a>> {
        let (index, handle) = self.locate(step)?;
        self.element(index)?.slot(handle)
    }

    /// Returns the element handles of the elements before index `end`.
    pub(crate) fn steps_before(&self, end: u32) -> Range<u32> {
        let len = (self.len as u32).min(end);
        self.step(0, 1)..self.step(0, 1) + len * self.command.handles
    }

    /// Returns the number of handles of one element of the array.
    pub(crate) fn handles(&self) -> u32 {
        self.command.handles
    }

    /// Returns the minimum size of a new element of the array, in bits.
    pub(crate) fn least_bits(&self) -> u32 {
        self.command.least_bits
    }

    /// Returns how many bytes of the heap the elements take. Returns zero for an `Option`, because its value
    /// is inside the object.
    pub(crate) fn own_bytes(&self) -> usize {
        if self.command.shape.optional { 0 } else { self.len * self.command.shape.element.size }
    }

    /// Returns whether the elements of the array contain arrays, collections or maps.
    pub(crate) fn nests(&self) -> bool {
        nests(self.program, self.command.table, self.command.handles)
    }

    pub(crate) fn element(&self, index: usize) -> Option<Level<'a>> {
        if index >= self.len {
            return None;
        }
        // SAFETY: `index` is below the length, so the element lies inside the array's storage.
        let base = unsafe { self.first.add(index * self.command.shape.element.size) };
        let table = self.program.table(self.command.table, self.command.handles);
        Some(Level { program: self.program, table, base, object: PhantomData })
    }

    /// Returns whether the two arrays are equal byte for byte. The function may return `false` for equal
    /// arrays.
    pub(crate) fn same_bytes(&self, other: &Array<'_>) -> bool {
        if let Some(same_variant) = self.command.shape.same_variant {
            // SAFETY: `first` points to the enum, which has the type that the shape was made for.
            return self.has_elements_of(other) && unsafe { same_variant(self.first, other.first) };
        }
        let element = self.command.shape.element;
        if !self.has_elements_of(other) || !element.bitwise || self.len != other.len {
            return false;
        }
        let bytes = self.len * element.size;
        if bytes == 0 {
            return true;
        }
        // SAFETY: `first` points to an array of `len` elements, and elements that are bitwise contain no
        // padding.
        let ours = unsafe { std::slice::from_raw_parts(self.first, bytes) };
        // SAFETY: the same holds for the other array.
        let theirs = unsafe { std::slice::from_raw_parts(other.first, bytes) };
        ours == theirs
    }
}
