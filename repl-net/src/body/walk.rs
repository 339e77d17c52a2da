//! Reads the body of a packet. The body is a list of segments. Each entry of a segment describes one object,
//! or a run of objects in consecutive slots, and is passed to a [`Visitor`].
//!
//! *Invariant:* reading a body changes no object. The visitor validates the entries and stores them in a
//! list. After the whole packet was read, they are applied from this list.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::num::NonZeroU32;
use std::ops::Range;

use repl_core::wire::read_handles;
use repl_core::{BitReader, HandleSet, ReadError};
use repl_link::parts::Sequence;

use crate::body::parent::ParentGap;
use crate::body::path::{StaticName, read_name};
use crate::body::reassembly::Part;
use crate::body::removal::ReadRemoval;
use crate::body::role::Proxy;
use crate::body::segment::{LEAST_RUN_BITS, Origin, PreviousLists, SegmentKind, SegmentReader};
use crate::body::table::TableHead;

/// The reason why the reading of a body stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BodyError {
    /// The packet is older than a packet that has already updated one of the objects in this body.
    Stale,
    /// The body of the packet is malformed. The text says why.
    Malformed(String),
}

impl BodyError {
    pub(crate) fn malformed(error: impl std::fmt::Display) -> Self {
        Self::Malformed(error.to_string())
    }
}

impl From<ReadError> for BodyError {
    fn from(error: ReadError) -> Self {
        Self::malformed(error)
    }
}

/// The header of a run of openings, which comes before the values of the run's objects. An opening is the
/// update that creates an object on the client.
#[derive(Clone, Debug)]
pub(crate) struct OpenHead<'a> {
    /// The slots of the objects (their numbers in packets). There is at least one.
    pub(crate) slots: Range<u32>,
    pub(crate) generation: NonZeroU32,
    /// The number of the class on the wire.
    pub(crate) class: u32,
    pub(crate) archetype: u32,
    pub(crate) proxy: Proxy,
    /// Where the parent of each object is, if the objects are subobjects.
    pub(crate) parent: Option<ParentGap>,
    /// The name of the object if it is static. A static object has no archetype, and is the only object of
    /// its run.
    pub(crate) name: Option<StaticName<&'a str>>,
}

/// Receives the entries of a body, one by one.
pub(crate) trait Visitor {
    /// Returns the wire number of the class of the object in `slot`.
    fn class_of(&mut self, slot: u32) -> Result<u32, BodyError>;
    /// Returns the number of handles of a class, or `None` if there is no class with this number.
    fn handles_of(&self, class: u32) -> Option<u32>;
    /// Returns the number of archetypes of a class (sets of initial values), plus one for the values of
    /// `Default`. Returns `None` if there is no class with this number.
    fn archetypes_of(&self, class: u32) -> Option<u32>;
    /// Returns the number of classes on this connection.
    fn classes(&self) -> u32;
    /// Called for an update of an object that has the same class and the same changed properties as the
    /// previous update. Returns whether the visitor has read the values. If it returns false,
    /// [`update`](Self::update) is called next for the same object, and must read the values.
    fn update_alike(&mut self, slot: u32, reader: &mut BitReader<'_>) -> bool;
    fn update(
        &mut self,
        slot: u32,
        list: PropertyList<'_>,
        reader: &mut BitReader<'_>,
    ) -> Result<(), BodyError>;
    /// Called when the server opens objects in consecutive slots. The values of the objects follow one after
    /// another. The values of each object except the first must take at least [`LEAST_RUN_BITS`].
    fn open(
        &mut self,
        head: OpenHead<'_>,
        list: PropertyList<'_>,
        reader: &mut BitReader<'_>,
    ) -> Result<(), BodyError>;
    /// Called when the server removes an object. Reads the object's last state, if there is one. `head_bits`
    /// is the number of bits of the entry before the last state.
    fn close(
        &mut self,
        slot: u32,
        removal: &ReadRemoval,
        head_bits: usize,
        reader: &mut BitReader<'_>,
    ) -> Result<(), BodyError>;
    fn part(&mut self, part: Part) -> Result<(), BodyError>;
}

/// The properties of an object whose values follow in the body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PropertyList<'a> {
    pub(crate) handles: &'a HandleSet,
    /// The number of bits of the entry before the values.
    pub(crate) head_bits: usize,
    /// Whether the previous entry of the segment certainly has the same class and the same properties.
    pub(crate) is_alike: bool,
}

/// Reads the segments of a body, and passes each entry to `visitor`. `previous` is a buffer that is reused
/// for each body.
pub(crate) fn walk(
    sequence: Sequence,
    reader: &mut BitReader<'_>,
    previous: &mut PreviousLists,
    visitor: &mut impl Visitor,
) -> Result<(), BodyError> {
    while let Some((kind, mut segment)) = SegmentReader::next(reader)? {
        match kind {
            SegmentKind::Update => walk_updates(segment, reader, previous, visitor)?,
            SegmentKind::Table => walk_table(reader, visitor)?,
            SegmentKind::Open => walk_openings(segment, reader, previous, visitor)?,
            SegmentKind::Close => walk_closings(segment, reader, visitor)?,
            SegmentKind::Fragment => {
                while let Some(slot) = segment.slot(reader)? {
                    visitor.part(Part::read(slot, sequence, reader)?)?;
                }
            }
        }
    }
    Ok(())
}

/// Reads the entries of a segment of updates that are sorted by slot.
// Not inlined, so that the loop can use all registers.
#[inline(never)]
fn walk_updates(
    mut segment: SegmentReader,
    reader: &mut BitReader<'_>,
    previous: &mut PreviousLists,
    visitor: &mut impl Visitor,
) -> Result<(), BodyError> {
    previous.clear();
    let mut last_class = None;
    loop {
        let start = reader.position();
        let Some(slot) = segment.slot(reader)? else { return Ok(()) };
        let class = visitor.class_of(slot)?;
        let is_class_alike = last_class == Some(class);
        let is_same = (is_class_alike || previous.of(class as usize).is_some()) && reader.read_flag()?;
        let is_alike = is_class_alike && is_same;
        if !is_alike || !visitor.update_alike(slot, reader) {
            if !is_same {
                read_list(class, reader, previous, visitor)?;
            }
            let handles = previous.of(class as usize).ok_or(ReadError::OutOfRange)?;
            let head_bits = reader.position().saturating_sub(start);
            visitor.update(slot, PropertyList { handles, head_bits, is_alike }, reader)?;
            last_class = Some(class);
        }
    }
}

fn walk_openings(
    mut segment: SegmentReader,
    reader: &mut BitReader<'_>,
    previous: &mut PreviousLists,
    visitor: &mut impl Visitor,
) -> Result<(), BodyError> {
    previous.clear();
    let mut origin = None;
    let mut start = reader.position();
    while let Some(slot) = segment.slot(reader)? {
        let run = Run::read(slot, origin, reader, previous, visitor)?;
        origin = Some(run.origin);
        segment.end_run(run.end);
        run.walk(start, reader, previous, visitor)?;
        start = reader.position();
    }
    Ok(())
}

fn walk_closings(
    mut segment: SegmentReader,
    reader: &mut BitReader<'_>,
    visitor: &mut impl Visitor,
) -> Result<(), BodyError> {
    let mut start = reader.position();
    while let Some(slot) = segment.slot(reader)? {
        let removal = ReadRemoval::read(reader)?;
        let (head, bits) = (reader.position(), removal.last_state_bits.unwrap_or(0));
        visitor.close(slot, &removal, head.saturating_sub(start), reader)?;
        start = reader.position();
        if start.checked_sub(head) != Some(bits) {
            return Err(BodyError::malformed("a last state of another length"));
        }
    }
    Ok(())
}

/// Reads the entries of a segment that were copied from a table.
fn walk_table(reader: &mut BitReader<'_>, visitor: &mut impl Visitor) -> Result<(), BodyError> {
    let (head, count) = TableHead::read(reader, visitor.classes(), |class| visitor.handles_of(class))?;
    let mut was_common = false;
    let mut start = reader.position();
    while let Some(slot) = head.read_slot(reader)? {
        if visitor.class_of(slot)? != head.class {
            return Err(BodyError::malformed(format_args!("slot {slot} has another class than the table")));
        }
        let own = head.read_handles(count, reader)?;
        let is_common = own.is_none();
        let is_alike = is_common && was_common;
        if !is_alike || !visitor.update_alike(slot, reader) {
            let handles = own.as_ref().unwrap_or(&head.common);
            let head_bits = reader.position().saturating_sub(start);
            visitor.update(slot, PropertyList { handles, head_bits, is_alike }, reader)?;
        }
        was_common = is_common;
        start = reader.position();
    }
    Ok(())
}

/// The header of a run of openings: objects in consecutive slots that differ only in their values.
struct Run {
    first: u32,
    /// The slot after the last slot of the run.
    end: u32,
    origin: Origin,
    /// Whether the previous run of the segment has the same origin (class, archetype, owner and parent), and
    /// therefore the same list of handles.
    is_alike: bool,
    /// The name of the only object of the run, if it is static.
    name: Option<StaticName<String>>,
}

impl Run {
    /// Reads the header of a run of openings, and stores its list of handles in `previous`. `first` is the
    /// slot of the first object of the run. `previous_origin` is the origin of the previous run in the
    /// segment.
    fn read(
        first: u32,
        previous_origin: Option<Origin>,
        reader: &mut BitReader<'_>,
        previous: &mut PreviousLists,
        visitor: &impl Visitor,
    ) -> Result<Self, BodyError> {
        let (origin, is_alike) = match previous_origin {
            Some(origin) if reader.read_flag()? => (origin, true),
            _ => {
                let origin = read_origin(reader, visitor)?;
                read_opening_list(origin.class, reader, previous, visitor)?;
                (origin, false)
            }
        };
        let archetypes = visitor.archetypes_of(origin.class).ok_or(ReadError::OutOfRange)?;
        let name = if origin.archetype == archetypes { Some(read_name(reader)?) } else { None };
        let more = if name.is_some() { 0 } else { reader.read_exp_golomb(0)? };
        if more > (reader.remaining() / LEAST_RUN_BITS) as u64 {
            return Err(ReadError::OutOfRange.into());
        }
        let end = first.checked_add(more as u32).and_then(|last| last.checked_add(1));
        Ok(Self { first, end: end.ok_or(ReadError::OutOfRange)?, origin, is_alike, name })
    }

    /// Reads the values of all objects in the run. `start` is the bit position at which the run began.
    fn walk(
        &self,
        start: usize,
        reader: &mut BitReader<'_>,
        previous: &PreviousLists,
        visitor: &mut impl Visitor,
    ) -> Result<(), BodyError> {
        let Origin { generation, class, archetype, proxy, parent } = self.origin;
        let name = self.name.as_ref().map(StaticName::as_deref);
        let handles = previous.of(class as usize).ok_or(ReadError::OutOfRange)?;
        let head_bits = reader.position().saturating_sub(start);
        let list = PropertyList { handles, head_bits, is_alike: self.is_alike };
        let slots = self.first..self.end;
        visitor.open(OpenHead { slots, generation, class, archetype, proxy, parent, name }, list, reader)
    }
}

fn read_origin(reader: &mut BitReader<'_>, visitor: &impl Visitor) -> Result<Origin, BodyError> {
    let generation = reader.read_exp_golomb(2)?.checked_add(1).and_then(|number| u32::try_from(number).ok());
    let generation = generation.and_then(NonZeroU32::new).ok_or(ReadError::OutOfRange)?;
    let class = reader.read_below(visitor.classes().into())? as u32;
    let archetype = u32::try_from(reader.read_exp_golomb(0)?).map_err(|_| ReadError::OutOfRange)?;
    let (parent, proxy) = match Proxy::read_any(reader)? {
        Some(proxy) => (None, proxy),
        None => (Some(ParentGap::read(reader)?), Proxy::read(reader)?),
    };
    Ok(Origin { generation, class, archetype, proxy, parent })
}

fn read_opening_list(
    class: u32,
    reader: &mut BitReader<'_>,
    previous: &mut PreviousLists,
    visitor: &impl Visitor,
) -> Result<(), BodyError> {
    if previous.of(class as usize).is_some() && reader.read_flag()? {
        return Ok(());
    }
    let count = visitor.handles_of(class).ok_or(ReadError::OutOfRange)?;
    let handles = if !reader.read_flag()? {
        read_handles(count, true, reader)?
    } else if count as usize / 8 <= reader.remaining() {
        HandleSet::up_to(count)
    } else {
        // The packet is too short for the values of so many properties, so no set is allocated for them.
        return Err(ReadError::OutOfRange.into());
    };
    previous.set(class as usize, &handles);
    Ok(())
}

/// Reads a list of handles, and stores it in `previous` as the list of the class.
// Not inlined: most updates repeat the previous list, so the code for them should be short.
#[inline(never)]
fn read_list(
    class: u32,
    reader: &mut BitReader<'_>,
    previous: &mut PreviousLists,
    visitor: &impl Visitor,
) -> Result<(), BodyError> {
    let count = visitor.handles_of(class).ok_or(ReadError::OutOfRange)?;
    previous.set(class as usize, &read_handles(count, false, reader)?);
    Ok(())
}
