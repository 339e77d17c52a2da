//! Sets of handles (numbers of properties) on the wire, as a bit mask or as a list.
//!
//! *Invariant:* the writer chooses the shorter of the two forms. The choice of the form does not depend on
//! the connection, so the same change has the same bits for every connection (S90).
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use crate::bits::{BitReader, BitWriter, ReadError, width_bits};
use crate::ids::handles::HandleSet;

/// Writes a set of handles of a level (an object, or an element of an array or collection) that has `count`
/// handles. Chooses the shorter of two forms: a mask, or a list of handles.
///
/// The first bit selects the form. The mask consists of the highest handle in the set, and then one bit for
/// each handle below it. Small handles make a mask short, so structs should declare first the fields that
/// change most. The list has, for each handle, a 1 and then the position of the handle among the handles that
/// may still follow. A 0 ends the list if more handles could follow. If the set cannot be empty, the first 1
/// of the list is omitted.
pub fn write_handles(set: &HandleSet, count: u32, may_be_empty: bool, writer: &mut BitWriter) {
    let highest = set.last();
    let top = if may_be_empty { highest } else { highest.saturating_sub(1) };
    let mask_bits = top.saturating_add(1).ilog2().saturating_mul(2).saturating_add(highest.max(1));
    let as_list = list_bits(set, count, may_be_empty) < mask_bits;
    writer.write_bits(as_list.into(), 1);
    if as_list {
        write_list(set, count, may_be_empty, writer);
        return;
    }
    writer.write_exp_golomb(top.into(), 0);
    let mut left = highest.saturating_sub(1);
    for word in set.words_up_to(left) {
        let bits = left.min(64);
        writer.write_bits(word & u64::MAX.wrapping_shr(64_u32.saturating_sub(bits)), bits);
        left = left.saturating_sub(bits);
    }
}

fn write_list(set: &HandleSet, count: u32, may_be_empty: bool, writer: &mut BitWriter) {
    let mut next = 0;
    for (at, handle) in set.iter().enumerate() {
        if at > 0 || may_be_empty {
            writer.write_bits(1, 1);
        }
        writer.write_below(
            handle.saturating_sub(1).saturating_sub(next).into(),
            count.saturating_sub(next).into(),
        );
        next = handle;
    }
    if next < count && (next > 0 || may_be_empty) {
        writer.write_bits(0, 1);
    }
}

fn list_bits(set: &HandleSet, count: u32, may_be_empty: bool) -> u32 {
    let mut bits = u32::from(may_be_empty);
    let mut next = 0;
    for handle in set.iter() {
        let width = width_bits(count.saturating_sub(next).into());
        bits = bits.saturating_add(width).saturating_add(u32::from(handle < count));
        next = handle;
    }
    bits
}

/// Reads a set of handles that [`write_handles`] wrote.
///
/// # Errors
/// Returns an error if a handle is above `count`, or if the set is empty although `may_be_empty` is not set.
pub fn read_handles(
    count: u32,
    may_be_empty: bool,
    reader: &mut BitReader<'_>,
) -> Result<HandleSet, ReadError> {
    if reader.read_bits(1)? == 1 {
        return read_list(count, may_be_empty, reader);
    }
    let top = reader.read_exp_golomb(0)?;
    let highest = if may_be_empty { Some(top) } else { top.checked_add(1) };
    let highest = highest.filter(|&highest| highest <= count.into()).ok_or(ReadError::OutOfRange)? as u32;
    let mut set = HandleSet::new();
    if highest == 0 {
        return Ok(set);
    }
    let below = highest.saturating_sub(1);
    let mut first = 0;
    while first < below {
        let bits = below.saturating_sub(first).min(64);
        set.insert_word((first / 64) as usize, reader.read_bits(bits)?);
        first = first.saturating_add(64);
    }
    set.insert(highest);
    Ok(set)
}

fn read_list(count: u32, may_be_empty: bool, reader: &mut BitReader<'_>) -> Result<HandleSet, ReadError> {
    let mut set = HandleSet::new();
    let mut next: u32 = 0;
    let mut more = !may_be_empty || reader.read_bits(1)? == 1;
    while more {
        let left = count.checked_sub(next).filter(|&left| left > 0).ok_or(ReadError::OutOfRange)?;
        let gap = reader.read_below(left.into())? as u32;
        next = next.saturating_add(gap).saturating_add(1);
        set.insert(next);
        more = next < count && reader.read_bits(1)? == 1;
    }
    Ok(set)
}
