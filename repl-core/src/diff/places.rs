//! Places: the positions of properties in an object. A comparison finds most changed properties by comparing
//! bytes, and copies many of them without the commands of the program.
//!
//! *Invariant:* each handle belongs to a value in a block (a range of plain memory), or to one of the plan's
//! strings, or is in `by_command`.

use crate::ids::handles::HandleSet;
use crate::object::blocks::Blocks;
use crate::object::plain_values::{Differences, PlainValue};
use crate::object::scan::copy_differing_strings;
use crate::schema::codec::Codec;
use crate::schema::command::CommandKind;
use crate::schema::plan::Planned;
use crate::schema::program::Program;

/// The positions of the properties of the type `T`.
#[derive(Debug)]
pub(crate) struct Places<T> {
    blocks: Blocks<T>,
    /// The strings of the type's plan.
    strings: Box<[StringPlace]>,
    in_strings: HandleSet,
    /// The properties that are compared by their commands in the program, because their bytes do not show
    /// whether they changed.
    by_command: HandleSet,
    has_by_command: bool,
    /// The properties in `by_command` that are compared in every tick.
    ordinary_by_command: HandleSet,
}

/// The property of a string.
#[derive(Clone, Copy, Debug, Default)]
struct StringPlace {
    /// The handle of the property. It is zero if the string belongs to no property.
    handle: u32,
    /// The greatest number of bytes that are copied to the shadow without the command of the property. It is
    /// `None` if the command copies each value, because the string is sent as differences.
    max_bytes: Option<u32>,
}

impl<T: Planned> Places<T> {
    /// Returns the places of the properties of `T`. `program` is the program of `T`, and `ordinary` contains
    /// the properties that are compared in every tick.
    pub(crate) fn of(program: &Program, ordinary: &HandleSet) -> Self {
        let (strings, plain) = strings_and_plain_values(program, ordinary, const { T::PLAN }.strings());
        let (blocks, in_blocks) = Blocks::of(plain);
        let mut in_strings = HandleSet::new();
        strings.iter().filter(|place| place.handle > 0).for_each(|place| in_strings.insert(place.handle));
        let mut by_command = HandleSet::up_to(program.handles());
        by_command.difference(&in_strings);
        by_command.difference(&in_blocks);
        let (has_by_command, mut ordinary_by_command) = (!by_command.is_empty(), by_command.clone());
        ordinary_by_command.intersect(ordinary);
        Self { blocks, strings, in_strings, by_command, has_by_command, ordinary_by_command }
    }

    /// Compares a few properties, and copies the values that differ to the shadow. Returns the handles of
    /// these values, as the bits of the first word of a set. Returns `None` and copies nothing if any of the
    /// properties must be compared by its command.
    #[inline]
    pub(crate) fn copy_few(&self, live: &T, shadow: &mut T, handles: &HandleSet) -> Option<u64> {
        let (word, direct) = (handles.first_word(), self.blocks.direct());
        (handles.is_one_word() && word & !direct == 0).then(|| self.blocks.copy_direct(live, shadow, word))
    }

    #[inline]
    pub(crate) fn by_command(&self) -> &HandleSet {
        &self.by_command
    }

    /// Does the same as [`Blocks::forget_seen`].
    pub(crate) fn forget_seen(&self, handle: u32, shadow: &T, seen: &mut [u8]) {
        self.blocks.forget_seen(handle, shadow, seen);
    }

    /// Compares the bytes of the properties in `differences.scope` in an object and its shadow. Adds to
    /// `differences` the properties that differ, and the properties that must still be compared by their
    /// commands. `seen` contains the seen bytes of the object (the bytes of its quantised values at the last
    /// comparison), or is empty.
    #[inline]
    pub(crate) fn compare(
        &self,
        live: &T,
        shadow: &mut T,
        seen: &mut [u8],
        differences: &mut Differences<'_>,
    ) {
        debug_assert!(differences.left.is_empty(), "the properties that were left are compared");
        if self.has_by_command && differences.scope.intersects(&self.by_command) {
            differences.left.clone_from(&self.by_command);
            differences.left.intersect(differences.scope);
        }
        self.blocks.compare(live, shadow, seen, differences);
        if differences.scope.intersects(&self.in_strings) {
            let Differences { scope, copied, left } = differences;
            copy_differing_strings(live, shadow, |at, text| match self.strings.get(at) {
                Some(place) if scope.contains(place.handle) => place.list(text, copied, left),
                _ => false,
            });
        }
    }

    /// Does the same as [`compare`](Self::compare) for the properties that are compared in every tick. Adds
    /// the handles to `copied` and `left` as described at [`Differences`].
    #[inline(always)]
    pub(crate) fn compare_ordinary(
        &self,
        live: &T,
        shadow: &mut T,
        seen: &mut [u8],
        copied: &mut HandleSet,
        left: &mut HandleSet,
    ) {
        debug_assert!(left.is_empty(), "the properties that were left are compared");
        if self.has_by_command {
            left.clone_from(&self.ordinary_by_command);
        }
        self.blocks.compare_ordinary(live, shadow, seen, copied, left);
        copy_differing_strings(live, shadow, |at, text| {
            let place = self.strings.get(at).filter(|place| place.handle > 0);
            place.is_some_and(|place| place.list(text, copied, left))
        });
    }
}

impl StringPlace {
    /// A string differs from its shadow: adds its property to `copied` if the string can be copied, and
    /// otherwise to `left`. Returns whether the string can be copied.
    fn list(&self, text: &str, copied: &mut HandleSet, left: &mut HandleSet) -> bool {
        let is_copied = self.max_bytes.is_some_and(|max| text.len() <= max as usize);
        let list = if is_copied { copied } else { left };
        list.insert(self.handle);
        is_copied
    }
}

/// Returns the properties of the strings at these offsets, and the properties with plain values.
fn strings_and_plain_values(
    program: &Program,
    ordinary: &HandleSet,
    offsets: &[usize],
) -> (Box<[StringPlace]>, Vec<PlainValue>) {
    let mut strings = vec![StringPlace::default(); offsets.len()];
    let mut plain = Vec::new();
    for command in program.commands_of(program.own_table()) {
        let CommandKind::Leaf(leaf) = command.kind else { continue };
        let (handle, offset, bytes) = (command.handle, command.offset as usize, leaf.bytes as usize);
        if leaf.codec.is_string() {
            let max_bytes = match leaf.codec {
                Codec::String { max_bytes, .. } => Some(max_bytes),
                _ => None,
            };
            if let Some(at) = offsets.iter().position(|&known| known == offset) {
                strings[at] = StringPlace { handle, max_bytes };
            }
        } else {
            let (is_ordinary, is_any_sent) = (ordinary.contains(handle), !leaf.codec.must_be_tried());
            plain.push(PlainValue { handle, offset, bytes, is_ordinary, is_any_sent });
        }
    }
    (strings.into(), plain)
}
