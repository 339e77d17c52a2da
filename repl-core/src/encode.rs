//! Encoding: the values of a changelist, read from the shadow, in the order of their handles.
//!
//! Invariant: the bits depend on the shadow and the list alone, so one encoding serves every connection that needs it (S90).

use std::ops::Range;

use crate::access::{Array, Level, Slot};
use crate::bits::BitWriter;
use crate::changelist::{ArrayChanges, Changelist};
use crate::codec::width_of;
use crate::value::WriteError;
use crate::wire;

/// Writes the values that `changes` lists, without the handles of the object's own level.
pub(crate) fn write_values(
    shadow: Level<'_>,
    changes: &Changelist,
    writer: &mut BitWriter,
) -> Result<(), WriteError> {
    for handle in changes.handles.iter() {
        match shadow.slot(handle) {
            Some(Slot::Leaf(leaf)) => leaf.write_nearest(writer)?,
            Some(Slot::Array(array)) => write_array(array, changes.arrays.get(handle), writer)?,
            None => debug_assert!(false, "a list holds only handles of its object"),
        }
    }
    Ok(())
}

/// Writes an array: its count, where its new elements begin, which old elements changed, and the values of both.
fn write_array(
    array: Array<'_>,
    changes: Option<&ArrayChanges>,
    writer: &mut BitWriter,
) -> Result<(), WriteError> {
    let len = array.len() as u32;
    wire::write_count(array.len(), array.max_len(), writer)?;
    if len == 0 {
        return Ok(());
    }
    let none = ArrayChanges::count_only();
    let changes = changes.unwrap_or(&none);
    let tail = changes.tail.min(len);
    writer.write_bits((tail < len).into(), 1);
    if tail < len {
        writer.write_below(tail.into(), len.into());
    }
    write_edits(array, tail, changes, writer)?;
    write_new(array, tail as usize, writer)
}

/// Writes which handles of the elements before `end` changed, as ranges or as a mask, and their values.
fn write_edits(
    array: Array<'_>,
    end: u32,
    changes: &ArrayChanges,
    writer: &mut BitWriter,
) -> Result<(), WriteError> {
    let limit = end * array.handles();
    if limit == 0 {
        return Ok(());
    }
    let ranges =
        || changes.edits.as_slice().iter().map(|r| r.start..r.end.min(limit)).filter(|r| r.start < r.end);
    if ranges().next().is_none() {
        writer.write_bits(0, 1);
        return Ok(());
    }
    writer.write_bits(1, 1);
    let ranges_bits: u64 = ranges().map(|r| range_bits(r.end - r.start, limit)).sum();
    let as_ranges = ranges_bits < u64::from(limit);
    writer.write_bits(as_ranges.into(), 1);
    if as_ranges {
        write_ranges(ranges(), limit, writer);
    } else {
        write_mask(ranges(), limit, writer);
    }
    for edit in ranges().flatten() {
        let (index, handle) = (edit / array.handles(), edit % array.handles() + 1);
        match array.element(index as usize).and_then(|element| element.slot(handle)) {
            Some(Slot::Leaf(leaf)) => leaf.write_nearest(writer)?,
            Some(Slot::Array(nested)) => write_array(nested, changes.arrays.get(edit), writer)?,
            None => debug_assert!(false, "an element has the handles of its type"),
        }
    }
    Ok(())
}

/// Writes stretches: where each begins, counted from the first place where it can, how long it is, and whether another follows where one
/// can.
fn write_ranges(ranges: impl Iterator<Item = Range<u32>>, limit: u32, writer: &mut BitWriter) {
    let mut next = 0;
    for range in ranges {
        if next > 0 {
            writer.write_flag(true);
        }
        writer.write_below((range.start - next).into(), (limit - next).into());
        writer.write_exp_golomb(u64::from(range.end - range.start - 1), 0);
        // Stretches do not touch.
        next = range.end + 1;
    }
    if next < limit {
        writer.write_flag(false);
    }
}

/// Writes a bit for each handle below `limit`.
fn write_mask(ranges: impl Iterator<Item = Range<u32>>, limit: u32, writer: &mut BitWriter) {
    let mut next = 0;
    for range in ranges {
        write_run(false, range.start - next, writer);
        write_run(true, range.end - range.start, writer);
        next = range.end;
    }
    write_run(false, limit - next, writer);
}

fn write_run(bit: bool, count: u32, writer: &mut BitWriter) {
    let word = if bit { u64::MAX } else { 0 };
    let mut left = count;
    while left > 0 {
        let bits = left.min(64);
        writer.write_bits(word >> (64 - bits), bits);
        left -= bits;
    }
}

/// What a range takes at most.
fn range_bits(len: u32, limit: u32) -> u64 {
    u64::from(1 + width_of(limit.into()) + 2 * len.ilog2() + 1)
}

/// Writes all of the elements from `first` on, without handles.
fn write_new(array: Array<'_>, first: usize, writer: &mut BitWriter) -> Result<(), WriteError> {
    for element in (first..array.len()).filter_map(|index| array.element(index)) {
        let start = writer.bit_len();
        for slot in element.slots() {
            match slot {
                Slot::Leaf(leaf) => leaf.write_nearest(writer)?,
                Slot::Array(nested) => {
                    wire::write_count(nested.len(), nested.max_len(), writer)?;
                    write_new(nested, 0, writer)?;
                }
            }
        }
        wire::pad_element(start, array.least_bits(), writer);
    }
    Ok(())
}
