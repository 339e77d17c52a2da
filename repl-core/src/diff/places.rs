//! Places: a map from each byte of an object to the property that the byte belongs to. A comparison uses this
//! map to find the properties of the bytes that differ.
//!
//! *Invariant:* a handle is either mapped, and then all bytes of its value are in a stretch of plain memory
//! of the type's plan, or it is the handle of one of the plan's strings, or it is in `by_command`.

use crate::ids::handles::HandleSet;
use crate::object::scan::{differing_bytes, differing_strings};
use crate::schema::plan::{Planned, Run};
use crate::schema::program::{CommandKind, Program};

/// The greatest number of bytes of an object that are mapped. Properties after the mapped bytes are compared
/// by their commands in the program.
const MAX_BYTES: usize = 16 << 10;

/// The map from the bytes of an object of one type to the properties of the type.
#[derive(Debug)]
pub(crate) struct Places {
    /// One entry for each mapped byte of the object.
    bytes: Box<[Place]>,
    /// The handle of each string of the type's plan.
    strings: Box<[u32]>,
    /// The properties that are compared by their commands in the program, because their bytes do not show
    /// whether they changed.
    by_command: HandleSet,
}

/// The property to which one byte of an object belongs.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// The handle of the property. The stored handle is zero if the byte belongs to no property.
    handle: u16,
    /// The number of bytes from this byte to the end of the value.
    left: u16,
}

impl Places {
    /// Returns the map from the bytes of `T` to its properties. `program` is the program of `T`.
    pub(crate) fn of<T: Planned>(program: &Program) -> Self {
        let mut bytes = vec![Place::default(); size_of::<T>().min(MAX_BYTES)];
        let mut by_command = HandleSet::up_to(program.handles());
        let offsets = const { T::PLAN }.strings();
        let mut strings = vec![0; offsets.len()];
        for command in program.commands_of(program.own_table()) {
            let CommandKind::Leaf(leaf) = command.kind else { continue };
            let (offset, len) = (command.offset as usize, leaf.bytes as usize);
            if let Some(at) = offsets.iter().position(|&known| len == 0 && known == offset) {
                strings[at] = command.handle;
                by_command.remove(command.handle);
                continue;
            }
            let Ok(handle) = u16::try_from(command.handle) else { continue };
            let is_run = |run: &Run| run.offset <= offset && offset + len <= run.offset + run.len;
            if len == 0 || !const { T::PLAN }.runs().iter().any(is_run) {
                continue;
            }
            let Some(places) = bytes.get_mut(offset..offset + len) else { continue };
            for (place, left) in places.iter_mut().zip((1..=len as u16).rev()) {
                *place = Place { handle, left };
            }
            by_command.remove(command.handle);
        }
        Self { bytes: bytes.into(), strings: strings.into(), by_command }
    }

    /// Returns the properties that are candidates although their values may be the same.
    #[inline]
    pub(crate) fn by_command(&self) -> &HandleSet {
        &self.by_command
    }

    /// Stores in `into` the handles in `scope` that may differ: the mapped handles whose bytes differ, the
    /// strings that differ, and all other handles in `scope`.
    #[inline]
    pub(crate) fn candidates<T: Planned>(&self, one: &T, other: &T, scope: &HandleSet, into: &mut HandleSet) {
        into.clear();
        into.union(&self.by_command);
        differing_bytes(one, other, |offset| match self.bytes.get(offset) {
            Some(place) if place.handle > 0 => {
                into.insert(place.handle.into());
                place.left.into()
            }
            _ => 1,
        });
        differing_strings(one, other, |at| match self.strings.get(at) {
            Some(&handle) if handle > 0 => into.insert(handle),
            _ => {}
        });
        into.intersect(scope);
    }
}
