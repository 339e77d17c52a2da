//! Walking the body of a packet: segments and items, given to a visitor one by one.
//!
//! Invariant: the walk is the same for the visitor that validates and the one that applies.

use std::num::NonZeroU32;

use repl_core::wire::read_handles;
use repl_core::{BitReader, HandleSet, ReadError};

use crate::events::CloseReason;
use crate::packet::read_end;
use crate::reassembly::Part;
use crate::segment::{PreviousLists, SegmentKind, SegmentReader};
use crate::sequence::Sequence;

/// Why a walk stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    /// The body is older than what was applied to one of its objects (R1).
    Stale,
    /// The body is no body; why, in words.
    Malformed(String),
}

impl From<ReadError> for Halt {
    fn from(error: ReadError) -> Self {
        Self::Malformed(error.to_string())
    }
}

/// An object that comes into being.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenHead {
    pub(crate) slot: u32,
    pub(crate) generation: NonZeroU32,
    /// The class's number on the wire.
    pub(crate) class: u32,
    pub(crate) archetype: u32,
}

/// What is done with the items of a body.
pub(crate) trait Visitor {
    /// The number on the wire of the class of the object in `slot`.
    fn class_of(&mut self, slot: u32) -> Result<u32, Halt>;
    /// How many handles a class has; `None` if there is no such class.
    fn handles_of(&self, class: u32) -> Option<u32>;
    /// The number of classes.
    fn classes(&self) -> u32;
    fn update(&mut self, slot: u32, item: Item<'_>, reader: &mut BitReader<'_>) -> Result<(), Halt>;
    fn open(&mut self, head: OpenHead, item: Item<'_>, reader: &mut BitReader<'_>) -> Result<(), Halt>;
    fn close(&mut self, slot: u32, reason: CloseReason) -> Result<(), Halt>;
    fn part(&mut self, part: Part) -> Result<(), Halt>;
}

/// Which properties of an object follow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item<'a> {
    pub(crate) handles: &'a HandleSet,
    /// Bits of the item before its values.
    pub(crate) head_bits: usize,
}

/// Walks a body to its end. `previous` is memory that walks use again.
pub(crate) fn walk(
    sequence: Sequence,
    reader: &mut BitReader<'_>,
    previous: &mut PreviousLists,
    visitor: &mut impl Visitor,
) -> Result<(), Halt> {
    while let Some((kind, mut segment)) = SegmentReader::next(reader)? {
        previous.clear();
        let mut start = reader.position();
        while let Some(slot) = segment.slot(reader)? {
            match kind {
                SegmentKind::Update => {
                    let class = visitor.class_of(slot)?;
                    let handles = read_list(class, false, reader, previous, visitor)?;
                    let item = Item { handles: &handles, head_bits: reader.position().saturating_sub(start) };
                    visitor.update(slot, item, reader)?;
                }
                SegmentKind::Open => {
                    let head = read_open(slot, reader, visitor)?;
                    let handles = read_list(head.class, true, reader, previous, visitor)?;
                    let item = Item { handles: &handles, head_bits: reader.position().saturating_sub(start) };
                    visitor.open(head, item, reader)?;
                }
                SegmentKind::Close => {
                    let reason = match reader.read_bits(2)? {
                        0 => CloseReason::Destroyed,
                        1 => CloseReason::Relevancy,
                        _ => return Err(ReadError::UnknownVariant.into()),
                    };
                    visitor.close(slot, reason)?;
                }
                SegmentKind::Fragment => visitor.part(Part::read(slot, sequence, reader)?)?,
            }
            start = reader.position();
        }
    }
    Ok(read_end(reader)?)
}

fn read_open(slot: u32, reader: &mut BitReader<'_>, visitor: &impl Visitor) -> Result<OpenHead, Halt> {
    let generation = reader.read_exp_golomb(2)?.checked_add(1).and_then(|number| u32::try_from(number).ok());
    let generation = generation.and_then(NonZeroU32::new).ok_or(ReadError::OutOfRange)?;
    let class = reader.read_below(visitor.classes().into())? as u32;
    let archetype = u32::try_from(reader.read_exp_golomb(0)?).map_err(|_| ReadError::OutOfRange)?;
    Ok(OpenHead { slot, generation, class, archetype })
}

fn read_list(
    class: u32,
    may_be_empty: bool,
    reader: &mut BitReader<'_>,
    previous: &mut PreviousLists,
    visitor: &impl Visitor,
) -> Result<HandleSet, Halt> {
    if let Some(list) = previous.of(class as usize)
        && reader.read_flag()?
    {
        return Ok(list.clone());
    }
    let count = visitor.handles_of(class).ok_or(ReadError::OutOfRange)?;
    let handles = read_handles(count, may_be_empty, reader)?;
    previous.set(class as usize, &handles);
    Ok(handles)
}
