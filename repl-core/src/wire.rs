//! The forms that encoding and decoding share: counts of arrays and sets of handles.
//!
//! Invariant: what is written is the shortest of the forms on offer, chosen by the content alone, so that the same change has
//! the same bits for every connection (S90).
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

use crate::bits::{BitReader, BitWriter};
use crate::codec::width_of;
use crate::handles::HandleSet;
use crate::limits::MAX_ITEMS;
use crate::shape::{ArrayShape, Formatted, Kind};
use crate::value::{ReadError, WriteError};

pub use crate::access::{read_guid, write_guid};

/// Up to this many elements a count has a fixed width; beyond it a small number has a short form.
const FIXED_COUNT_MAX: u32 = 31;

/// What a new element takes at least, where its type alone does not see to that.
pub(crate) const LEAST_BITS: u32 = 8;

/// Writes the number of elements of an array of at most `max_len`.
pub(crate) fn write_count(len: usize, max_len: u32, writer: &mut BitWriter) -> Result<(), WriteError> {
    if len > max_len as usize {
        return Err(WriteError::TooLong { len, max: max_len as usize });
    }
    if max_len <= FIXED_COUNT_MAX {
        writer.write_below(len as u64, u64::from(max_len) + 1);
    } else {
        writer.write_exp_golomb(len as u64, 3);
    }
    Ok(())
}

/// Reads what [`write_count`] wrote.
pub(crate) fn read_count(max_len: u32, reader: &mut BitReader<'_>) -> Result<usize, ReadError> {
    let len = if max_len <= FIXED_COUNT_MAX {
        reader.read_below(u64::from(max_len).saturating_add(1))?
    } else {
        reader.read_exp_golomb(3)?
    };
    if len > u64::from(max_len) {
        return Err(ReadError::TooLong { len: len.try_into().unwrap_or(usize::MAX), max: max_len as usize });
    }
    Ok(len as usize)
}

/// The least that a new element of an array takes, so that memory is paid for with bits: 8, or 0 where any value has a bit for every two bytes
/// of its memory anyway. Follows from the wire types alone, never from sizes that vary with the compiler.
pub(crate) const fn least_bits(array: &ArrayShape, element: Formatted) -> u32 {
    if array.optional {
        // It lies inside the object, whether it is there or not.
        return 0;
    }
    match element.kind() {
        Kind::Leaf(codec) => match (codec.width_bits(), codec.bytes()) {
            (Some(bits), Some(bytes)) if bits.saturating_mul(2) >= bytes => 0,
            _ => LEAST_BITS,
        },
        _ => LEAST_BITS,
    }
}

/// Follows a new element that began at bit `start` with zeros, up to the least that it must take.
pub(crate) fn pad_element(start: usize, least_bits: u32, writer: &mut BitWriter) {
    let bits = writer.bit_len().saturating_sub(start).min(LEAST_BITS as usize) as u32;
    if bits < least_bits {
        writer.write_bits(0, least_bits.saturating_sub(bits));
    }
}

/// Reads what [`pad_element`] wrote.
pub(crate) fn read_padding(
    start: usize,
    least_bits: u32,
    reader: &mut BitReader<'_>,
) -> Result<(), ReadError> {
    let bits = reader.position().saturating_sub(start).min(LEAST_BITS as usize) as u32;
    let padding = least_bits.saturating_sub(bits);
    if padding > 0 && reader.read_bits(padding)? != 0 {
        return Err(ReadError::OutOfRange);
    }
    Ok(())
}

/// Refuses `elements` new elements that the rest of the input cannot hold: each counts at least one bit, even if it takes none, so that no
/// claim is paid for with memory (design budget of hostile packets).
pub(crate) fn check_growth(
    elements: usize,
    least_bits: u32,
    reader: &BitReader<'_>,
) -> Result<(), ReadError> {
    let most = if least_bits == 0 {
        reader.remaining().saturating_add(1)
    } else {
        reader.remaining().checked_div(least_bits as usize).unwrap_or(0)
    };
    if elements > most {
        return Err(ReadError::TooLong { len: elements, max: most });
    }
    Ok(())
}

/// What a client holds at most of one collection or map. Not what a server may have: items whose removal was lost are there beside those that came
/// since, however small the limit of the property is.
const MOST_HELD: u64 = 2 * MAX_ITEMS as u64;

/// Refuses one more whole item or entry than an honest server sends in one update, after `whole` others, or than a client holds, which has `held`.
pub(crate) fn check_room(whole: u32, max_len: u32, held: usize) -> Result<(), ReadError> {
    if whole >= max_len {
        return Err(ReadError::TooLong { len: whole as usize, max: max_len as usize });
    }
    if held as u64 >= MOST_HELD {
        return Err(ReadError::TooLong { len: held, max: MOST_HELD as usize });
    }
    Ok(())
}

/// Writes a set of handles of a level with `count`: as a mask or as a list, whichever is shorter.
///
/// One bit tells the form. A mask is the highest handle, small numbers in few bits, and a bit for each below it: structs declare first what
/// changes most. A list is, for each handle, one bit for "another" and its place among those that may still follow; a set that cannot be
/// empty saves the first of these bits.
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
        let width = width_of(count.saturating_sub(next).into());
        bits = bits.saturating_add(width).saturating_add(u32::from(handle < count));
        next = handle;
    }
    bits
}

/// Reads what [`write_handles`] wrote.
///
/// # Errors
/// When a handle is past `count`, or the set is empty and must not be.
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
        set.insert_word(first, reader.read_bits(bits)?);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r20_neither_one_update_nor_many_bring_more_than_a_client_holds() {
        assert!(check_room(3, 4, 2_000).is_ok());
        assert!(check_room(4, 4, 0).is_err());
        assert!(check_room(0, 4, MOST_HELD as usize - 1).is_ok());
        assert!(check_room(0, 4, MOST_HELD as usize).is_err());
    }
}
