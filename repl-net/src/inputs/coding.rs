//! Writes and reads inputs of a type: either whole, or only the properties that differ from the previous
//! input.
//!
//! *Invariant:* an input that was written and read is written as the same bits again.

use repl_core::wire::{read_handles, write_handles};
use repl_core::{
    BitReader, BitWriter, Changelist, Checked, Class, Form, HandleSet, NetSerialize, ReadError, ReferenceMap,
    Scratch, WithoutFastArrays, WriteError,
};

/// Writes and reads inputs of the type `T`.
pub(crate) trait Coding<T: 'static>: Send + Sync + 'static {
    /// Returns the forms of all parts of an input, on which both sides must agree.
    fn forms(&self) -> Vec<Form>;

    /// Writes the first input of a bundle, which does not depend on another input.
    fn write_first(&mut self, input: &T, writer: &mut BitWriter) -> Result<(), WriteError>;

    /// Writes an input that follows another input: a bit that says whether the input differs, and the
    /// difference if it does.
    fn write_next(&mut self, before: &T, input: &T, writer: &mut BitWriter) -> Result<(), WriteError>;

    /// Reads an input. `before` is the previous input, or `None` for the first input of a bundle.
    fn read(
        &mut self,
        before: Option<&T>,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<T, ReadError>;
}

/// Writes each input that differs from the previous input as a whole.
pub(crate) struct Whole;

impl<T: NetSerialize + Clone> Coding<T> for Whole {
    fn forms(&self) -> Vec<Form> {
        T::WIRE_FORM.forms()
    }

    fn write_first(&mut self, input: &T, writer: &mut BitWriter) -> Result<(), WriteError> {
        input.write(writer)
    }

    fn write_next(&mut self, before: &T, input: &T, writer: &mut BitWriter) -> Result<(), WriteError> {
        let start = writer.bit_len();
        writer.write_flag(true);
        let flag_end = writer.bit_len();
        input.write(writer)?;
        let end = writer.bit_len();
        before.write(writer)?;
        let written = writer.as_slice();
        let is_same = written.slice(flag_end..end) == written.slice(end..written.len());
        writer.truncate(if is_same { start } else { end });
        if is_same {
            writer.write_flag(false);
        }
        Ok(())
    }

    fn read(
        &mut self,
        before: Option<&T>,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<T, ReadError> {
        match before {
            Some(before) if !reader.read_flag()? => Ok(before.clone()),
            _ => T::read(reader, references),
        }
    }
}

/// Writes only the properties that differ from the previous input. Inputs by field have no fast arrays: a
/// fast array finds changes by its own log, and this log does not say how the array differs from an array in
/// another input.
pub(crate) struct ByField<T> {
    class: Class<T>,
    all: HandleSet,
    scratch: Scratch,
    checked: Checked,
}

impl<T: WithoutFastArrays + Clone> ByField<T> {
    pub(crate) fn new() -> Self {
        // Only generic types can fail here, because their fields depend on their type arguments.
        const {
            assert!(
                !T::LAYOUT.table().has_fast_arrays(),
                "an input with fast arrays is sent whole: call `register_inputs` instead of `register_inputs_by_field`"
            );
        }
        let class = Class::new();
        let all = HandleSet::up_to(class.program().handles());
        Self { class, all, scratch: Scratch::default(), checked: Checked::new() }
    }
}

impl<T: WithoutFastArrays + Clone> Coding<T> for ByField<T> {
    fn forms(&self) -> Vec<Form> {
        T::LAYOUT.table().forms()
    }

    fn write_first(&mut self, input: &T, writer: &mut BitWriter) -> Result<(), WriteError> {
        input.write(writer)
    }

    fn write_next(&mut self, before: &T, input: &T, writer: &mut BitWriter) -> Result<(), WriteError> {
        let Self { class, all, scratch, .. } = self;
        let (mut shadow, mut changes, mut refusals) = (before.clone(), Changelist::new(), Vec::new());
        class.compare(input, &mut shadow, all, &mut changes, &mut refusals, scratch);
        if let Some(refusal) = refusals.pop() {
            return Err(refusal.error);
        }
        writer.write_flag(!changes.is_empty());
        if changes.is_empty() {
            return Ok(());
        }
        write_handles(changes.handles(), class.program().handles(), false, writer);
        class.write_values(&shadow, &changes, writer)
    }

    fn read(
        &mut self,
        before: Option<&T>,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<T, ReadError> {
        let Self { class, checked, .. } = self;
        let Some(before) = before else { return T::read(reader, references) };
        let mut input = before.clone();
        if !reader.read_flag()? {
            return Ok(input);
        }
        let handles = read_handles(class.program().handles(), false, reader)?;
        checked.clear();
        let mut ahead = reader.clone();
        let valid = class.validate(Some(&input), &handles, &mut ahead, references, checked);
        valid.map_err(|error| error.reason)?;
        class.apply(&mut input, &handles, checked.take(reader), references, &mut ());
        Ok(input)
    }
}
