//! Recipes: a recipe is the list of steps that read the values of a set of properties. It is made once, and
//! used for all updates of the same properties.
//!
//! *Invariant:* for the same handles, a recipe reads and refuses the same bits as the commands of the
//! program. The offsets of a recipe lie in objects of its layout, and its indices of codecs are valid.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::fmt;

use crate::bits::BitReader;
use crate::ids::handles::HandleSet;
use crate::object::leaf;
use crate::schema::codec::Codec;
use crate::schema::command::CommandKind;
use crate::schema::joined::Joined;
use crate::schema::layout::Layout;
use crate::schema::program::{Program, TableEntry};

/// The greatest number of reading steps of a recipe. Without this limit, a peer could choose handles that
/// need a large recipe.
const MAX_READS: usize = 64;

/// The steps that validate and read the values of a set of properties of an object. All of these properties
/// are leaves (single values) that refer to no objects and that no user code reads.
pub struct ReadRecipe {
    layout: &'static Layout,
    checks: Box<[Check]>,
    reads: Box<[Read]>,
    /// The codecs of the leaves whose wire form differs from their form in memory.
    codecs: Box<[Codec]>,
    /// The minimum number of bits that the values take.
    least_bits: usize,
}

/// One step of validation.
enum Check {
    /// Skips bits that are valid whatever they are.
    Direct { bits: u32 },
    /// Checks the value of a leaf. `codec` is the index of its codec.
    Leaf { codec: usize },
}

/// One step of reading: the kind of the value, and its offset in the object.
pub(super) struct Read {
    pub(super) offset: u32,
    pub(super) what: ReadKind,
}

/// The kind of values that a step reads.
#[derive(Clone, Copy)]
pub(super) enum ReadKind {
    /// Joined leaves of at most 8 bytes.
    Word(Joined),
    /// Joined leaves of more than 8 bytes.
    Words(Joined),
    /// A leaf whose wire form differs from its form in memory, and the index of its codec.
    Leaf(usize),
}

impl ReadRecipe {
    /// Returns the recipe of a set of handles of the object itself (not of its elements). Returns `None` if a
    /// property must be read alone, by its command in the program, or if the recipe would have more than
    /// [`MAX_READS`] reading steps.
    pub(crate) fn of(program: &Program, handles: &HandleSet) -> Option<Self> {
        let mut parts = Parts::default();
        for (first, count) in handles.stretches() {
            let (mut handle, end) = (first, first.saturating_add(count));
            while handle < end {
                handle = parts.add(program, handle, end)?;
                if parts.reads.len() > MAX_READS {
                    return None;
                }
            }
        }
        let Parts { checks, reads, codecs, least_bits } = parts;
        Some(Self {
            layout: program.layout(),
            checks: checks.into_boxed_slice(),
            reads: reads.into_boxed_slice(),
            codecs: codecs.into_boxed_slice(),
            least_bits,
        })
    }

    /// Returns the minimum number of bits that the values take.
    #[must_use]
    pub fn least_bits(&self) -> usize {
        self.least_bits
    }

    /// Moves `reader` past the consecutive updates of as many objects as `objects` says. Returns whether all
    /// of them are valid. If an update is not valid, `reader` stops somewhere within it.
    #[must_use]
    #[inline]
    pub fn check(&self, objects: u32, reader: &mut BitReader<'_>) -> bool {
        if let [Check::Direct { bits }] = *self.checks {
            return reader.skip_bits((bits as usize).saturating_mul(objects as usize)).is_ok();
        }
        (0..objects).all(|_| self.checks.iter().all(|check| self.passes(check, reader)))
    }

    /// Moves `reader` past the bits of a check. Returns whether these bits are valid.
    #[inline]
    fn passes(&self, check: &Check, reader: &mut BitReader<'_>) -> bool {
        match *check {
            Check::Direct { bits } => reader.skip_bits(bits as usize).is_ok(),
            Check::Leaf { codec } => {
                self.codecs.get(codec).is_some_and(|codec| leaf::validate_plain(codec, reader).is_ok())
            }
        }
    }

    /// Returns whether this is a recipe for objects with this program.
    #[inline]
    pub(super) fn is_for(&self, program: &Program) -> bool {
        program.is_of(self.layout)
    }

    /// Returns the steps of reading, in the order of the bits.
    #[inline]
    pub(super) fn reads(&self) -> &[Read] {
        &self.reads
    }

    #[inline]
    pub(super) fn codec(&self, index: usize) -> Option<&Codec> {
        self.codecs.get(index)
    }
}

/// The parts of a recipe that is being made.
#[derive(Default)]
struct Parts {
    checks: Vec<Check>,
    reads: Vec<Read>,
    codecs: Vec<Codec>,
    least_bits: usize,
}

impl Parts {
    /// Adds properties from `handle` on, at most up to the handle before `end`. Returns the handle after the
    /// added properties, or `None` if the first property must be read alone.
    fn add(&mut self, program: &Program, handle: u32, end: u32) -> Option<u32> {
        let table = program.own_table();
        let (count, bits) = Program::direct(table, handle, end.saturating_sub(handle));
        if count > 0 {
            let start = handle.checked_sub(1)? as usize;
            self.add_direct(table.get(start..start.saturating_add(count as usize))?, bits)?;
            return Some(handle.saturating_add(count));
        }
        let command = program.command(table, handle)?;
        let CommandKind::Leaf(leaf) = &command.kind else { return None };
        if leaf.codec.may_refer() {
            return None;
        }
        let codec = self.codecs.len();
        self.codecs.push(leaf.codec);
        self.checks.push(Check::Leaf { codec });
        self.reads.push(Read { offset: command.offset, what: ReadKind::Leaf(codec) });
        // Each value takes at least one bit.
        let bits = leaf.codec.width_bits().unwrap_or(1);
        self.least_bits = self.least_bits.saturating_add(bits as usize);
        Some(handle.saturating_add(1))
    }

    /// Adds properties whose wire form equals their form in memory. Together they take `bits` bits.
    fn add_direct(&mut self, entries: &[TableEntry], bits: u32) -> Option<()> {
        match self.checks.last_mut() {
            Some(Check::Direct { bits: last }) => *last = last.saturating_add(bits),
            _ => self.checks.push(Check::Direct { bits }),
        }
        self.least_bits = self.least_bits.saturating_add(bits as usize);
        let mut entries = entries;
        while let (Some(first), Some(joined)) = (entries.first(), Program::joined(entries)) {
            let offset = first.offset;
            let what = if joined.bytes <= 8 { ReadKind::Word(joined) } else { ReadKind::Words(joined) };
            self.reads.push(Read { offset, what });
            entries = entries.get(joined.leaves.into()..)?;
        }
        Some(())
    }
}

impl fmt::Debug for ReadRecipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { layout, reads, least_bits, .. } = self;
        write!(f, "ReadRecipe({}: {} reads of {least_bits} bits)", layout.name(), reads.len())
    }
}
