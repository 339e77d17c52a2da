//! Recipes for writing: a recipe is the list of steps that write the values of a set of properties.
//!
//! *Invariant:* the offsets of a recipe lie in objects with the layout for which it was made. The memory at
//! the offsets is initialised, because a program joins only leaves without gaps between them.
#![expect(unsafe_code, reason = "reads the bytes of several values")]
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use super::joined::gather;
use super::level::entries_from;
use super::text::write_text_or_empty;
use crate::bits::{BitWriter, WriteError, word_of};
use crate::ids::handles::HandleSet;
use crate::schema::codec::Codec;
use crate::schema::command::{CommandKind, LeafCommand};
use crate::schema::joined::{Form, Joined};
use crate::schema::layout::Layout;
use crate::schema::program::Program;

/// The steps that write the values of a set of properties. A recipe is made once, and used for many objects
/// of a class.
///
/// In a tick, most objects change in the same properties as the previous object. Making a recipe costs about
/// as much as writing one object without it. Writing an object with the recipe costs a fraction of this.
#[derive(Clone, Debug, Default)]
pub struct WriteRecipe {
    /// The layout of the objects, or `None` before the recipe is made for the first time.
    layout: Option<&'static Layout>,
    handles: HandleSet,
    steps: Vec<Step>,
}

/// One step of writing an object. Offsets are in bytes from the start of the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Writes whole words of memory.
    Words { offset: u32, words: u32 },
    /// Writes up to seven bytes of memory.
    Bytes { offset: u32, bytes: u32 },
    /// Writes up to eight `bool`s, each as one bit.
    Flags { offset: u32, count: u32 },
    /// Writes a signed integer, with its highest bit inverted.
    Signed { offset: u32, bytes: u32 },
    /// Writes a `String` of at most `max_bytes` bytes.
    Text { offset: u32, max_bytes: u32 },
    /// Writes a property by its command in the program.
    ByCommand { handle: u32 },
}

impl WriteRecipe {
    /// Returns the properties whose values the recipe writes.
    #[must_use]
    pub fn handles(&self) -> &HandleSet {
        &self.handles
    }

    /// Returns whether the recipe was made for objects with this program.
    #[inline]
    pub(super) fn is_for(&self, program: &Program) -> bool {
        self.layout.is_some_and(|layout| program.is_of(layout))
    }

    /// Makes this the recipe of the properties in `handles` of objects with this program. Reuses the memory
    /// of the earlier recipe.
    pub(super) fn make(&mut self, program: &Program, handles: &HandleSet) {
        self.layout = Some(program.layout());
        self.handles.clone_from(handles);
        self.steps.clear();
        for (first, count) in handles.stretches() {
            let mut entries = entries_from(program.own_table(), first, count);
            let mut handle = first;
            while let Some(entry) = entries.first() {
                let joined = Program::joined(entries);
                match joined {
                    Some(joined) => push_joined(entry.offset, joined, &mut self.steps),
                    None => self.steps.push(step_of(program, handle)),
                }
                let leaves = joined.map_or(1, |joined| joined.leaves);
                entries = entries.get(leaves.into()..).unwrap_or_default();
                handle = handle.saturating_add(leaves.into());
            }
        }
    }

    /// Writes the values of an object. `by_command` writes the property with a handle by its command in the
    /// program.
    ///
    /// # Errors
    /// Returns the first error of `by_command`.
    ///
    /// # Safety
    /// `base` points to an object with the layout for which the recipe was made, which is borrowed for the
    /// call.
    #[inline]
    pub(super) unsafe fn write(
        &self,
        base: *const u8,
        writer: &mut BitWriter,
        mut by_command: impl FnMut(u32, &mut BitWriter) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        // Each step has been made from leaves that the program of this layout joins. These leaves lie in the
        // object without gaps between them, so all of their bytes are initialised.
        let memory = |offset: u32, bytes: u32| {
            // SAFETY: the offset of the step lies inside the object.
            let first = unsafe { base.add(offset as usize) };
            // SAFETY: the leaves of the step take `bytes` bytes at this place, and all of them are
            // initialised. The caller guarantees that the object is borrowed for the call.
            unsafe { std::slice::from_raw_parts(first, bytes as usize) }
        };
        for step in &self.steps {
            match *step {
                Step::Words { offset, words } => {
                    let bytes = memory(offset, words.wrapping_mul(8));
                    writer.write_words(bytes.as_chunks().0);
                }
                Step::Bytes { offset, bytes } => {
                    writer.write_bits(word_of(memory(offset, bytes)), bytes.wrapping_mul(8));
                }
                Step::Flags { offset, count } => {
                    writer.write_bits(gather(word_of(memory(offset, count))), count);
                }
                Step::Signed { offset, bytes } => {
                    let bits = bytes.wrapping_mul(8);
                    let flip = 1 << bits.wrapping_sub(1);
                    writer.write_bits(word_of(memory(offset, bytes)) ^ flip, bits);
                }
                Step::Text { offset, max_bytes } => {
                    // SAFETY: the offset lies inside the object.
                    let text = unsafe { base.add(offset as usize) };
                    // SAFETY: the program has a `String` at this offset, which is borrowed for the call.
                    let text = unsafe { &*text.cast::<String>() };
                    write_text_or_empty(text, max_bytes, writer);
                }
                Step::ByCommand { handle } => by_command(handle, writer)?,
            }
        }
        Ok(())
    }
}

/// Returns the step that writes a property that is not plain memory.
fn step_of(program: &Program, handle: u32) -> Step {
    let command = program.command(program.own_table(), handle);
    match command.map(|command| (command.offset, command.kind)) {
        Some((offset, CommandKind::Leaf(LeafCommand { codec: Codec::String { max_bytes, text }, .. })))
            if text.is_string =>
        {
            Step::Text { offset, max_bytes }
        }
        _ => Step::ByCommand { handle },
    }
}

/// Adds the steps that write joined leaves, whose memory begins at `offset`.
fn push_joined(offset: u32, joined: Joined, steps: &mut Vec<Step>) {
    let bytes = u32::from(joined.bytes);
    let mut push = |step: Step| steps.push(step);
    match joined.form {
        Form::Number => {
            let (words, rest) = (bytes / 8, bytes % 8);
            if words > 0 {
                push(Step::Words { offset, words });
            }
            if rest > 0 {
                push(Step::Bytes { offset: offset.saturating_add(words.saturating_mul(8)), bytes: rest });
            }
        }
        Form::Flags => {
            for at in (0..bytes).step_by(8) {
                let count = bytes.saturating_sub(at).min(8);
                push(Step::Flags { offset: offset.saturating_add(at), count });
            }
        }
        Form::Signed => push(Step::Signed { offset, bytes }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_leaves_are_written_in_words_and_what_is_left() {
        let steps_of = |bytes, form| {
            let mut steps = Vec::new();
            push_joined(4, Joined { leaves: 1, bytes, form }, &mut steps);
            steps
        };
        assert_eq!(
            steps_of(21, Form::Number),
            [Step::Words { offset: 4, words: 2 }, Step::Bytes { offset: 20, bytes: 5 }]
        );
        assert_eq!(steps_of(8, Form::Number), [Step::Words { offset: 4, words: 1 }]);
        assert_eq!(steps_of(2, Form::Number), [Step::Bytes { offset: 4, bytes: 2 }]);
        assert_eq!(
            steps_of(10, Form::Flags),
            [Step::Flags { offset: 4, count: 8 }, Step::Flags { offset: 12, count: 2 }]
        );
        assert_eq!(steps_of(8, Form::Signed), [Step::Signed { offset: 4, bytes: 8 }]);
    }
}
