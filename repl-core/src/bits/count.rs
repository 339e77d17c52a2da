//! Writes and reads counts of elements, and the padding that gives each new element a minimum size.
//!
//! *Invariant:* before memory is allocated for a count that a peer claims, the count is checked against the
//! number of remaining bits.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use super::{BitReader, BitWriter, ReadError, WriteError};

/// The length of an array is written in a fixed width if the array's `max_len` is at most this constant. If
/// the `max_len` of an array is greater, small lengths have a short form.
const FIXED_COUNT_MAX: u32 = 31;

/// The minimum size of a new element in bits, for elements whose type alone guarantees no minimum.
pub(crate) const LEAST_BITS: u32 = 8;

/// Writes the number of elements of an array that may have at most `max_len` elements.
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

/// Reads a number of elements that [`write_count`] wrote.
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

/// Reads the number of new elements of an array, and checks that the rest of the input has `least_bits` bits
/// for each of them.
pub(crate) fn read_new_count(
    max_len: u32,
    least_bits: u32,
    reader: &mut BitReader<'_>,
) -> Result<usize, ReadError> {
    let len = read_count(max_len, reader)?;
    check_growth(len, least_bits, reader)?;
    Ok(len)
}

/// Writes a new element with `write`, and pads it with zeros up to `least_bits`. The element begins at bit
/// `start`. Bits that were written before this call, such as the element's key, may belong to it, too.
#[inline]
pub(crate) fn write_element(
    start: usize,
    least_bits: u32,
    writer: &mut BitWriter,
    write: impl FnOnce(&mut BitWriter) -> Result<(), WriteError>,
) -> Result<(), WriteError> {
    write(writer)?;
    let bits = writer.bit_len().saturating_sub(start).min(LEAST_BITS as usize) as u32;
    if bits < least_bits {
        writer.write_bits(0, least_bits.saturating_sub(bits));
    }
    Ok(())
}

/// Writes new elements of an array by calling `write` for each element.
#[inline]
pub(crate) fn write_elements<T>(
    elements: impl IntoIterator<Item = T>,
    least_bits: u32,
    writer: &mut BitWriter,
    mut write: impl FnMut(T, &mut BitWriter) -> Result<(), WriteError>,
) -> Result<(), WriteError> {
    elements.into_iter().try_for_each(|element| {
        write_element(writer.bit_len(), least_bits, writer, |writer| write(element, writer))
    })
}

/// Reads an element that [`write_element`] wrote. The function `read` reads the value of the element.
pub(crate) fn read_element<'b, T>(
    start: usize,
    least_bits: u32,
    reader: &mut BitReader<'b>,
    read: impl FnOnce(&mut BitReader<'b>) -> Result<T, ReadError>,
) -> Result<T, ReadError> {
    let value = read(reader)?;
    read_padding(start, least_bits, reader)?;
    Ok(value)
}

/// Reads the zeros that pad an element to its minimum size, after the value of the element has been read.
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

/// Returns an error if the rest of the input is too short for `elements` new elements. An element that takes
/// no bits counts as one bit, so that a count that a peer claims never causes an allocation that is much
/// larger than the packet.
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
    if elements > most { Err(ReadError::TooLong { len: elements, max: most }) } else { Ok(()) }
}
