//! Writes and reads the inputs of a type: either each input as a whole, or only the properties that differ
//! from the previous input.
//!
//! *Invariant:* if an input was written and read, writing it again writes the same bits.

use repl_core::wire::{read_handles, write_handles};
use repl_core::{
    BitReader, BitWriter, Changelist, Checked, Class, Form, HandleSet, NetSerialize, ReadError, ReferenceMap,
    Scratch, WithoutFastArrays, WriteError,
};

/// Writes and reads inputs of the type `T`.
pub(crate) trait Coding<T: 'static>: Send + Sync + 'static {
    /// Returns the forms (descriptions) of all parts of an input, which must be equal on both sides.
    fn forms(&self) -> Vec<Form>;

    /// Writes the first input of a bundle, which does not depend on another input.
    fn write_first(&mut self, input: &T, writer: &mut BitWriter) -> Result<(), WriteError>;

    /// Writes an input that follows the input `before`: a bit that says whether the two differ, and the
    /// difference if they do.
    fn write_next(&mut self, before: &T, input: &T, writer: &mut BitWriter) -> Result<(), WriteError>;

    /// Reads an input. `before` is the previous input, or `None` for the first input of a bundle.
    fn read(
        &mut self,
        before: Option<&T>,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<T, ReadError>;
}

/// Writes an input as a whole if it differs from the previous input.
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

/// Writes only the properties that differ from the previous input. The inputs cannot contain fast arrays: a
/// fast array finds changes by its own log of writes, which does not say how it differs from the fast array
/// in another input.
pub(crate) struct ByField<T> {
    class: Class<T>,
    all: HandleSet,
    scratch: Scratch,
    checked: Checked,
}

impl<T: WithoutFastArrays + Clone> ByField<T> {
    pub(crate) fn new() -> Self {
        // This can fail only for generic types, because the fields of other types were already checked by the
        // derive.
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
