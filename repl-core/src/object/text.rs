//! Texts: the functions that access the text in a value of any type, and the wire form of a text. The wire
//! form is the number of bytes, then the bytes.
//!
//! *Invariant:* a function that is generic over a type is stored only in the codec of this type.
#![expect(unsafe_code, reason = "reaches text")]
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use crate::bits::{BitReader, BitSlice, BitWriter, ReadError, WriteError};
use crate::object::opaque::opaque_copy;
use crate::schema::codec::{Codec, TextLeaf};
use std::ops::Deref;

/// Returns the text in a value of type `T`.
///
/// # Safety
/// `value` points to an aligned `T`. The returned text is borrowed as long as the `T` is borrowed.
pub(crate) unsafe fn get<T: Deref<Target = str>>(value: *const u8) -> *const str {
    // SAFETY: the caller guarantees this.
    let value = unsafe { &*value.cast::<T>() };
    std::ptr::from_ref::<str>(value)
}

/// # Safety
/// `to` points to an aligned `T` and is valid for writes.
pub(crate) unsafe fn set<T: From<String>>(to: *mut u8, text: String) {
    // SAFETY: the caller guarantees this.
    unsafe { *to.cast::<T>() = text.into() };
}

impl TextLeaf {
    /// Returns the functions that access text in a value of type `T`.
    pub(crate) const fn of<T: Deref<Target = str> + From<String> + Clone + 'static>(is_string: bool) -> Self {
        Self { is_string, get: get::<T>, set: set::<T>, copy: opaque_copy::<T> }
    }
}

/// Returns the error that writing a text would return. Returns no error for values of other types.
///
/// # Safety
/// `value` points to an aligned value of the type that `codec` is for.
#[inline]
pub(super) unsafe fn check_text(codec: &Codec, value: *const u8) -> Result<(), WriteError> {
    let Codec::String { max_bytes, text } = codec else { return Ok(()) };
    // SAFETY: `value` has the type that the codec states, and the functions in `text` were made for this
    // type.
    let text = unsafe { (text.get)(value) };
    // SAFETY: the text is borrowed as long as the value.
    check_len(unsafe { &*text }, *max_bytes)
}

/// Returns how many bytes the text of a `String` takes. Returns zero for values of other types.
///
/// # Safety
/// `value` points to an aligned value of the type that `codec` is for.
pub(super) unsafe fn text_bytes(codec: &Codec, value: *const u8) -> usize {
    if !codec.is_string() {
        return 0;
    }
    // SAFETY: `value` has the type that the codec states, and is borrowed for this function.
    unsafe { &*value.cast::<String>() }.len()
}

#[inline]
fn check_len(text: &str, max_bytes: u32) -> Result<(), WriteError> {
    let (len, max) = (text.len(), max_bytes as usize);
    if len > max { Err(WriteError::TooLong { len, max }) } else { Ok(()) }
}

/// Writes a text of at most `max_bytes`.
#[inline]
pub(super) fn write_text(text: &str, max_bytes: u32, writer: &mut BitWriter) -> Result<(), WriteError> {
    check_len(text, max_bytes)?;
    write_text_or_empty(text, max_bytes, writer);
    Ok(())
}

/// Writes a text of at most `max_bytes`, or an empty text if it is longer.
#[inline]
pub(super) fn write_text_or_empty(text: &str, max_bytes: u32, writer: &mut BitWriter) {
    let text = if text.len() > max_bytes as usize { "" } else { text };
    writer.write_exp_golomb(text.len() as u64, 3);
    writer.append_bytes(text.as_bytes());
}

/// The highest bit of each byte of a word. In ASCII characters this bit is zero.
const NOT_ASCII: u64 = 0x8080_8080_8080_8080;

/// Reads a text without storing it.
#[inline(always)]
pub(super) fn validate_text(max_bytes: u32, reader: &mut BitReader<'_>) -> Result<(), ReadError> {
    let text = read_text_bits(max_bytes, reader)?;
    let mut all = 0;
    each_word(text, |word| all |= word);
    if all & NOT_ASCII == 0 { Ok(()) } else { text_of(text).map(drop) }
}

/// Reads a text.
#[inline(always)]
pub(super) fn read_text(max_bytes: u32, reader: &mut BitReader<'_>) -> Result<String, ReadError> {
    text_of(read_text_bits(max_bytes, reader)?)
}

/// Reads the length of a text. Returns the bits of its bytes, and moves the reader past them.
#[inline(always)]
fn read_text_bits<'b>(max_bytes: u32, reader: &mut BitReader<'b>) -> Result<BitSlice<'b>, ReadError> {
    let len = reader.read_exp_golomb(3)?;
    let max = u64::from(max_bytes).min(reader.remaining() as u64 / 8);
    if len > max {
        return Err(ReadError::TooLong { len: len as usize, max: max as usize });
    }
    reader.take((len as usize).saturating_mul(8))
}

/// Returns the text with these bits, which are a whole number of bytes.
#[inline(always)]
fn text_of(bits: BitSlice<'_>) -> Result<String, ReadError> {
    let len = bits.len() / 8;
    // Whole words of 8 bytes are stored, because storing a few bytes takes longer. An allocator reserves
    // whole words anyway.
    let mut bytes = Vec::with_capacity(len.next_multiple_of(8));
    let mut all = 0;
    each_word(bits, |word| {
        all |= word;
        bytes.extend_from_slice(&word.to_le_bytes());
    });
    bytes.truncate(len);
    if all & NOT_ASCII == 0 {
        // SAFETY: no byte has its highest bit set, so all of them are characters of ASCII.
        return Ok(unsafe { String::from_utf8_unchecked(bytes) });
    }
    String::from_utf8(bytes).map_err(|_| ReadError::InvalidUtf8)
}

/// Calls `each` with the words of a text. The bits after the text are zero.
#[inline(always)]
fn each_word(text: BitSlice<'_>, mut each: impl FnMut(u64)) {
    let (mut at, mut left) = (0, text.len());
    while left > 64 {
        each(text.window(at));
        at = at.wrapping_add(64);
        left = left.wrapping_sub(64);
    }
    if left > 0 {
        each(text.window(at) & u64::MAX.wrapping_shr(64_u32.wrapping_sub(left as u32)));
    }
}
