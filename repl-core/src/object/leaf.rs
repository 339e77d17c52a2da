//! Leaves in memory: compares, copies, writes and reads single values with their codecs. A leaf is a value
//! that is sent as a unit.
//!
//! *Invariant:* every pointer points to a value of the type that the codec was made for. The callers
//! guarantee the types of all pointers.
#![expect(unsafe_code, reason = "reads and writes single values")]
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use crate::bits::{BitReader, BitSlice, BitWriter, ReadError, WriteError};
use crate::ids::asset::{read_asset, write_asset};
use crate::ids::reference::{NoObjects, ReferenceMap, read_guid, write_guid};
use crate::object::text::{read_text, validate_text, write_text, write_text_or_empty};
use crate::schema::codec::{Codec, Direct, IntCodec, Repr};
use crate::schema::command::LeafCommand;
use crate::schema::quantize;
use crate::schema::quantize::Quantizer;

/// The number of bits of any character.
const CHAR_BITS: u32 = 21;
/// The number of bits of one of the first 128 characters.
const SHORT_CHAR_BITS: u32 = 7;

/// # Safety
/// Both pointers point to an aligned value of the type that `leaf` is for.
#[inline]
pub(super) unsafe fn identical(leaf: &LeafCommand, a: *const u8, b: *const u8) -> bool {
    match leaf.bytes {
        // SAFETY: the type has this size and no padding, by the caller; the same in each arm below.
        1 => unsafe { same::<[u8; 1]>(a, b) },
        // SAFETY: as for the previous `unsafe` block.
        2 => unsafe { same::<[u8; 2]>(a, b) },
        // SAFETY: as for the previous `unsafe` block.
        4 => unsafe { same::<[u8; 4]>(a, b) },
        // SAFETY: as for the previous `unsafe` block.
        8 => unsafe { same::<[u8; 8]>(a, b) },
        // SAFETY: as for the previous `unsafe` block; the only bitwise leaves with more than 8 bytes are
        // quaternions, vectors and 128-bit integers.
        12 => unsafe { same::<[u8; 12]>(a, b) },
        // SAFETY: as for the previous `unsafe` block.
        16 => unsafe { same::<[u8; 16]>(a, b) },
        _ => match &leaf.codec {
            Codec::String { text, .. } if !text.is_string => {
                // SAFETY: the functions in `text` were made for the type of the values.
                let a = unsafe { (text.get)(a) };
                // SAFETY: as for the previous `unsafe` block.
                let b = unsafe { (text.get)(b) };
                // SAFETY: the text is borrowed as long as the value that contains it.
                let a = unsafe { &*a };
                // SAFETY: as for the previous `unsafe` block.
                let b = unsafe { &*b };
                std::ptr::eq(a, b) || a == b
            }
            Codec::String { .. } => {
                // SAFETY: the codec states that this value is a string.
                let a = unsafe { &*a.cast::<String>() };
                // SAFETY: as for the previous `unsafe` block.
                let b = unsafe { &*b.cast::<String>() };
                a.len() == b.len() && (a.is_empty() || a == b)
            }
            // SAFETY: the functions in `opaque` were made for the type of the values.
            Codec::Opaque(opaque) => unsafe { (opaque.identical)(a, b) },
            _ => false,
        },
    }
}

/// # Safety
/// Both pointers point to `size_of::<B>()` initialised bytes.
#[inline]
unsafe fn same<B: Copy + PartialEq>(a: *const u8, b: *const u8) -> bool {
    // SAFETY: the caller guarantees this.
    let a = unsafe { a.cast::<B>().read_unaligned() };
    // SAFETY: the caller guarantees this.
    let b = unsafe { b.cast::<B>().read_unaligned() };
    a == b
}

/// # Safety
/// Both pointers point to an aligned value of the type that `leaf` is for, in different objects. `to` is
/// valid for writes.
#[inline]
pub(super) unsafe fn copy_value(leaf: &LeafCommand, from: *const u8, to: *mut u8) {
    match leaf.bytes {
        // SAFETY: the caller guarantees this.
        0 => unsafe { copy_by_codec(leaf, from, to) },
        // Values of a length that the compiler knows are copied without a function call. SAFETY: the type is
        // plain bytes of this length, by the caller; the same in each arm below.
        1 => unsafe { copy::<[u8; 1]>(from, to) },
        // SAFETY: as for the previous `unsafe` block.
        2 => unsafe { copy::<[u8; 2]>(from, to) },
        // SAFETY: as for the previous `unsafe` block.
        4 => unsafe { copy::<[u8; 4]>(from, to) },
        // SAFETY: as for the previous `unsafe` block.
        8 => unsafe { copy::<[u8; 8]>(from, to) },
        // SAFETY: as for the previous `unsafe` block, and the objects are different.
        bytes => unsafe { std::ptr::copy_nonoverlapping(from, to, bytes as usize) },
    }
}

/// # Safety
/// `from` points to `size_of::<B>()` initialised bytes, and `to` is valid for writes of the same number of
/// bytes.
#[inline]
unsafe fn copy<B: Copy>(from: *const u8, to: *mut u8) {
    // SAFETY: the caller guarantees this.
    let value = unsafe { from.cast::<B>().read_unaligned() };
    // SAFETY: the caller guarantees this.
    unsafe { to.cast::<B>().write_unaligned(value) };
}

/// # Safety
/// The same as for [`copy_value`]. The leaf is not bitwise: its bytes may differ although its values are
/// equal.
unsafe fn copy_by_codec(leaf: &LeafCommand, from: *const u8, to: *mut u8) {
    match &leaf.codec {
        // SAFETY: the functions in `text` were made for the type of the values.
        Codec::String { text, .. } => unsafe { (text.copy)(from, to) },
        // SAFETY: the functions in `opaque` were made for the type of the values.
        Codec::Opaque(opaque) => unsafe { (opaque.copy)(from, to) },
        _ => debug_assert!(false, "all other leaves are plain bytes"),
    }
}

/// # Safety
/// `value` points to an aligned value of the type that `codec` is for.
pub(super) unsafe fn write_value(
    codec: &Codec,
    value: *const u8,
    writer: &mut BitWriter,
) -> Result<(), WriteError> {
    match codec {
        // SAFETY: `value` has the type that the codec states; the same in each arm below.
        Codec::Bool => writer.write_bits(u64::from(unsafe { value.cast::<bool>().read() }), 1),
        Codec::Int(_) | Codec::QuantizedF32(_) | Codec::QuantizedF64(_) => {
            // SAFETY: as for the previous `unsafe` block.
            if let Some((number, bits)) = unsafe { number(codec, value) }? {
                writer.write_bits(number, bits);
            }
        }
        Codec::Wide => {
            // SAFETY: as for the previous `unsafe` block.
            write_wide(unsafe { value.cast::<u128>().read() }, writer);
        }
        // SAFETY: as for the previous `unsafe` block.
        Codec::F32 => writer.write_bits(unsafe { value.cast::<u32>().read() }.into(), 32),
        // SAFETY: as for the previous `unsafe` block.
        Codec::F64 => writer.write_bits(unsafe { value.cast::<u64>().read() }, 64),
        Codec::SmallestThree { bits, .. } => {
            // SAFETY: as for the previous `unsafe` block.
            let quaternion = unsafe { value.cast::<[f32; 4]>().read() };
            write_quaternion(quaternion, *bits, writer)?;
        }
        Codec::UnitVector { bits, .. } => {
            // SAFETY: as for the previous `unsafe` block.
            let vector = unsafe { value.cast::<[f32; 3]>().read() };
            write_unit_vector(vector, *bits, writer)?;
        }
        // SAFETY: as for the previous `unsafe` block.
        Codec::Char => write_char(unsafe { value.cast::<char>().read() }, writer),
        Codec::String { max_bytes, text } => {
            // SAFETY: as for the previous `unsafe` block; the functions in `text` were made for the type of
            // the value.
            let text = unsafe { (text.get)(value) };
            // SAFETY: the text is borrowed as long as the value.
            write_text(unsafe { &*text }, *max_bytes, writer)?;
        }
        // SAFETY: as for the previous `unsafe` block; references to objects of all types have the same form
        // in memory.
        Codec::Reference => write_guid(unsafe { value.cast::<crate::ObjectRef<()>>().read() }.guid(), writer),
        // SAFETY: as for the previous `unsafe` block; references to assets of all types have the same form in
        // memory.
        Codec::Asset => write_asset(unsafe { value.cast::<crate::AssetRef<()>>().read() }, writer),
        Codec::Opaque(opaque) => {
            let start = writer.bit_len();
            // SAFETY: the functions in `opaque` were made for the type of the value.
            unsafe { (opaque.write)(value, writer) }?;
            if writer.bit_len() == start {
                writer.write_flag(false);
            }
        }
    }
    Ok(())
}

/// Returns the wire form of an integer or a quantised float as a number, and how many bits the number takes.
/// Returns `None` for values of other codecs.
///
/// # Safety
/// `value` points to an aligned value of the type that `codec` is for.
#[inline]
pub(super) unsafe fn number(codec: &Codec, value: *const u8) -> Result<Option<(u64, u32)>, WriteError> {
    match codec {
        Codec::Int(int) => {
            // SAFETY: `value` has the type that the codec states; the same in each arm below.
            let value = unsafe { load_int(int.repr, value) };
            Ok(Some((encode_int(int, value)?, int.bits.into())))
        }
        Codec::QuantizedF32(quantizer) => {
            // SAFETY: as for the previous `unsafe` block.
            let float = unsafe { value.cast::<f32>().read() };
            Ok(Some((quantizer.encode(float.into())?, quantizer.bits())))
        }
        Codec::QuantizedF64(quantizer) => {
            // SAFETY: as for the previous `unsafe` block.
            let float = unsafe { value.cast::<f64>().read() };
            Ok(Some((quantizer.encode(float)?, quantizer.bits())))
        }
        _ => Ok(None),
    }
}

/// Returns whether the value `live` is within the margin around the last sent number `sent`, so that clients
/// need no update. `live` has a wire form.
///
/// # Safety
/// The pointer points to an aligned value of the type that `codec` is for.
#[inline]
pub(super) unsafe fn keeps_number(codec: &Codec, sent: u64, live: *const u8) -> bool {
    match codec {
        Codec::QuantizedF32(quantizer) => {
            // SAFETY: the pointer points to a value of the type that the codec states; the same below.
            quantizer.keeps(sent, unsafe { live.cast::<f32>().read() }.into())
        }
        // SAFETY: as for the previous `unsafe` block.
        Codec::QuantizedF64(quantizer) => quantizer.keeps(sent, unsafe { live.cast::<f64>().read() }),
        _ => false,
    }
}

/// Returns whether the value `live` is within the margin around the last sent value `sent`, so that clients
/// need no update. Both values have a wire form that is not a number.
///
/// # Safety
/// Both pointers point to an aligned value of the type that `codec` is for.
#[inline]
pub(super) unsafe fn keeps(codec: &Codec, sent: *const u8, live: *const u8) -> bool {
    match codec {
        Codec::SmallestThree { bits, exact: false } => {
            // SAFETY: the pointer points to a value of the type that the codec states; the same in each arm
            // below.
            let sent = unsafe { sent.cast::<[f32; 4]>().read() };
            // SAFETY: as for the previous `unsafe` block.
            let live = unsafe { live.cast::<[f32; 4]>().read() };
            quantize::keeps_smallest_three(sent, live, (*bits).into())
        }
        Codec::UnitVector { bits, exact: false } => {
            // SAFETY: as for the previous `unsafe` block.
            let sent = unsafe { sent.cast::<[f32; 3]>().read() };
            // SAFETY: as for the previous `unsafe` block.
            let live = unsafe { live.cast::<[f32; 3]>().read() };
            quantize::keeps_unit_vector(sent, live, (*bits).into())
        }
        _ => false,
    }
}

/// Writes a value whose wire form equals its form in memory.
///
/// # Safety
/// `value` points to an aligned value of the type that `direct` is for.
#[inline]
pub(super) unsafe fn write_direct(direct: &Direct, value: *const u8, writer: &mut BitWriter) {
    let memory = match direct.bytes {
        // SAFETY: the type has this size and no padding, by the caller; the same in each arm below.
        1 => unsafe { value.read() }.into(),
        // SAFETY: as for the previous `unsafe` block.
        2 => unsafe { value.cast::<u16>().read() }.into(),
        // SAFETY: as for the previous `unsafe` block.
        4 => unsafe { value.cast::<u32>().read() }.into(),
        // SAFETY: as for the previous `unsafe` block.
        _ => unsafe { value.cast::<u64>().read() },
    };
    writer.write_bits(memory ^ direct.flip, direct.bits.into());
}

/// Writes the value of a leaf. If the value has no wire form, writes the nearest value with a wire form,
/// because the client needs some value. Returns an error only for opaque values, which have no nearest value.
///
/// # Safety
/// `value` points to an aligned value of the type that `codec` is for.
pub(super) unsafe fn write_nearest(
    codec: &Codec,
    value: *const u8,
    writer: &mut BitWriter,
) -> Result<(), WriteError> {
    let start = writer.bit_len();
    // SAFETY: the caller guarantees this.
    let Err(error) = (unsafe { write_value(codec, value, writer) }) else { return Ok(()) };
    writer.truncate(start);
    match codec {
        Codec::Int(int) => {
            let saturating = Codec::Int(IntCodec { saturate: true, ..*int });
            // SAFETY: the caller guarantees this; `saturate` does not change the type.
            unsafe { write_value(&saturating, value, writer) }
        }
        // SAFETY: `value` has the type that the codec states; the same in the next arm.
        Codec::QuantizedF32(quantizer) => {
            // SAFETY: as for the previous `unsafe` block.
            let float = unsafe { value.cast::<f32>().read() };
            write_step(quantizer, float.into(), writer)
        }
        // SAFETY: as for the previous `unsafe` block.
        Codec::QuantizedF64(quantizer) => {
            // SAFETY: as for the previous `unsafe` block.
            let float = unsafe { value.cast::<f64>().read() };
            write_step(quantizer, float, writer)
        }
        Codec::SmallestThree { bits, .. } => write_quaternion([0.0, 0.0, 0.0, 1.0], *bits, writer),
        Codec::UnitVector { bits, .. } => write_unit_vector([0.0, 0.0, 1.0], *bits, writer),
        Codec::String { max_bytes, .. } => {
            write_text_or_empty("", *max_bytes, writer);
            Ok(())
        }
        Codec::Bool
        | Codec::Wide
        | Codec::F32
        | Codec::F64
        | Codec::Char
        | Codec::Reference
        | Codec::Asset
        | Codec::Opaque(_) => Err(error),
    }
}

fn write_step(quantizer: &Quantizer, value: f64, writer: &mut BitWriter) -> Result<(), WriteError> {
    let finite = if value.is_finite() { value } else { 0.0 };
    writer.write_bits(quantizer.saturating().encode(finite)?, quantizer.bits());
    Ok(())
}

/// Reads a value and stores it at `to`.
///
/// # Safety
/// `to` points to an aligned value of the type that `codec` is for and is valid for writes.
pub(super) unsafe fn read_value(
    codec: &Codec,
    reader: &mut BitReader<'_>,
    references: &mut ReferenceMap<'_>,
    to: *mut u8,
) -> Result<(), ReadError> {
    match codec {
        // SAFETY: `to` has the type that the codec states; the same in each arm below.
        Codec::Bool => unsafe { to.cast::<bool>().write(reader.read_bits(1)? == 1) },
        // SAFETY: as for the previous `unsafe` block.
        Codec::Int(int) => unsafe { store_int(int.repr, decode_int(int, reader)?, to)? },
        // SAFETY: as for the previous `unsafe` block.
        Codec::Wide => unsafe { to.cast::<u128>().write(read_wide(reader)?) },
        // SAFETY: as for the previous `unsafe` block.
        Codec::F32 => unsafe { to.cast::<u32>().write(reader.read_bits(32)? as u32) },
        // SAFETY: as for the previous `unsafe` block.
        Codec::F64 => unsafe { to.cast::<u64>().write(reader.read_bits(64)?) },
        Codec::QuantizedF32(quantizer) => {
            let float = quantizer.decode(reader.read_bits(quantizer.bits())?)? as f32;
            // SAFETY: as for the previous `unsafe` block.
            unsafe { to.cast::<f32>().write(float) }
        }
        Codec::QuantizedF64(quantizer) => {
            let float = quantizer.decode(reader.read_bits(quantizer.bits())?)?;
            // SAFETY: as for the previous `unsafe` block.
            unsafe { to.cast::<f64>().write(float) }
        }
        // SAFETY: as for the previous `unsafe` block.
        Codec::SmallestThree { bits, .. } => unsafe {
            to.cast::<[f32; 4]>().write(read_quaternion(*bits, reader)?)
        },
        // SAFETY: as for the previous `unsafe` block.
        Codec::UnitVector { bits, .. } => unsafe {
            to.cast::<[f32; 3]>().write(read_unit_vector(*bits, reader)?)
        },
        // SAFETY: as for the previous `unsafe` block.
        Codec::Char => unsafe { to.cast::<char>().write(read_char(reader)?) },
        Codec::String { max_bytes, text } => {
            let read = read_text(*max_bytes, reader)?;
            // SAFETY: as for the previous `unsafe` block; the functions in `text` were made for the type of
            // the value.
            unsafe { (text.set)(to, read) }
        }
        Codec::Reference => {
            let reference =
                read_guid(reader)?.map_or(crate::ObjectRef::NULL, |guid| references.resolve(guid));
            // SAFETY: as for the previous `unsafe` block; references to objects of all types have the same
            // form in memory.
            unsafe { to.cast::<crate::ObjectRef<()>>().write(reference) }
        }
        Codec::Asset => {
            let asset = read_asset(reader, references)?;
            // SAFETY: as for the previous `unsafe` block; references to assets of all types have the same
            // form in memory.
            unsafe { to.cast::<crate::AssetRef<()>>().write(asset) }
        }
        Codec::Opaque(opaque) => {
            let start = reader.position();
            // SAFETY: the functions in `opaque` were made for the type of the value.
            unsafe { (opaque.read)(to, reader, references) }?;
            read_filler(start, reader)?;
        }
    }
    Ok(())
}

/// Reads the filler bit of an opaque value that began at bit `start`, if the value took no bits. Every value
/// of a leaf takes at least one bit, so that the length of a packet limits the work of reading it.
fn read_filler(start: usize, reader: &mut BitReader<'_>) -> Result<(), ReadError> {
    if reader.position() == start && reader.read_flag()? { Err(ReadError::OutOfRange) } else { Ok(()) }
}

/// Reads a value without storing it, and records the objects to which the value refers. Returns an error if
/// the bits are not a valid value.
pub(crate) fn validate_value(
    codec: &Codec,
    reader: &mut BitReader<'_>,
    references: &mut ReferenceMap<'_>,
) -> Result<(), ReadError> {
    match codec {
        Codec::Bool | Codec::Wide | Codec::F32 | Codec::F64 => {
            reader.skip_bits(codec.width_bits().unwrap_or(0) as usize)?
        }
        Codec::Int(int) => {
            let value = decode_int(int, reader)?;
            if matches!(int.repr, Repr::Usize if usize::try_from(value).is_err())
                || matches!(int.repr, Repr::Isize if isize::try_from(value as i64).is_err())
            {
                return Err(ReadError::OutOfRange);
            }
        }
        Codec::QuantizedF32(quantizer) | Codec::QuantizedF64(quantizer) => {
            quantizer.decode(reader.read_bits(quantizer.bits())?)?;
        }
        Codec::SmallestThree { bits, .. } => drop(read_quaternion(*bits, reader)?),
        Codec::UnitVector { bits, .. } => drop(read_unit_vector(*bits, reader)?),
        Codec::Char => drop(read_char(reader)?),
        Codec::String { max_bytes, .. } => validate_text(*max_bytes, reader)?,
        Codec::Reference => read_guid(reader)?.into_iter().for_each(|guid| references.mention(guid)),
        Codec::Asset => drop(read_asset(reader, references)?),
        Codec::Opaque(opaque) => {
            let start = reader.position();
            (opaque.validate)(reader, references)?;
            read_filler(start, reader)?;
        }
    }
    Ok(())
}

/// Does the same as [`validate_value`] for a value that refers to no objects and that no user code reads.
#[inline(never)]
pub(super) fn validate_plain(codec: &Codec, reader: &mut BitReader<'_>) -> Result<(), ReadError> {
    match codec {
        Codec::String { max_bytes, .. } => validate_text(*max_bytes, reader),
        _ => validate_value(codec, reader, &mut ReferenceMap::new(&NoObjects)),
    }
}

/// Reads a value that refers to no objects and that no user code reads, and stores it at `to`. The value
/// begins at bit `at` of `bits`, and was validated. Returns the position of the bit after the value.
///
/// # Safety
/// The same as for [`read_value`].
// This is a separate function, so that it does not slow down the loop that calls it.
#[inline(never)]
pub(super) unsafe fn read_plain(codec: &Codec, bits: BitSlice<'_>, at: usize, to: *mut u8) -> usize {
    let mut reader = bits.slice(at..bits.len()).unwrap_or_default().reader();
    let read = match codec {
        Codec::String { max_bytes, text } => read_text(*max_bytes, &mut reader).map(|read| {
            // SAFETY: the functions in `text` were made for the type of the value, by the caller.
            unsafe { (text.set)(to, read) }
        }),
        // SAFETY: the caller guarantees this.
        _ => unsafe { read_value(codec, &mut reader, &mut ReferenceMap::new(&NoObjects), to) },
    };
    debug_assert_eq!(read, Ok(()), "a value that was validated");
    at.wrapping_add(reader.position())
}

/// # Safety
/// `value` points to an aligned integer of this type.
pub(super) unsafe fn load_int(repr: Repr, value: *const u8) -> u64 {
    match repr {
        // SAFETY: the caller guarantees the type; the same in each arm below. Signed values are
        // sign-extended.
        Repr::U8 => unsafe { value.read() }.into(),
        // SAFETY: as for the previous `unsafe` block.
        Repr::U16 => unsafe { value.cast::<u16>().read() }.into(),
        // SAFETY: as for the previous `unsafe` block.
        Repr::U32 => unsafe { value.cast::<u32>().read() }.into(),
        // SAFETY: as for the previous `unsafe` block.
        Repr::U64 | Repr::I64 => unsafe { value.cast::<u64>().read() },
        // SAFETY: as for the previous `unsafe` block.
        Repr::Usize => unsafe { value.cast::<usize>().read() as u64 },
        // SAFETY: as for the previous `unsafe` block.
        Repr::I8 => unsafe { value.cast::<i8>().read() as u64 },
        // SAFETY: as for the previous `unsafe` block.
        Repr::I16 => unsafe { value.cast::<i16>().read() as u64 },
        // SAFETY: as for the previous `unsafe` block.
        Repr::I32 => unsafe { value.cast::<i32>().read() as u64 },
        // SAFETY: as for the previous `unsafe` block.
        Repr::Isize => unsafe { value.cast::<isize>().read() as u64 },
    }
}

/// # Safety
/// `to` points to an aligned integer of this type and is valid for writes.
unsafe fn store_int(repr: Repr, value: u64, to: *mut u8) -> Result<(), ReadError> {
    match repr {
        // SAFETY: the caller guarantees the type; the same in each arm below. `value` is in the type's range,
        // so the cast does not change it.
        Repr::U8 | Repr::I8 => unsafe { to.write(value as u8) },
        // SAFETY: as for the previous `unsafe` block.
        Repr::U16 | Repr::I16 => unsafe { to.cast::<u16>().write(value as u16) },
        // SAFETY: as for the previous `unsafe` block.
        Repr::U32 | Repr::I32 => unsafe { to.cast::<u32>().write(value as u32) },
        // SAFETY: as for the previous `unsafe` block.
        Repr::U64 | Repr::I64 => unsafe { to.cast::<u64>().write(value) },
        Repr::Usize => {
            let value = usize::try_from(value).map_err(|_| ReadError::OutOfRange)?;
            // SAFETY: as for the previous `unsafe` block.
            unsafe { to.cast::<usize>().write(value) }
        }
        Repr::Isize => {
            let value = isize::try_from(value as i64).map_err(|_| ReadError::OutOfRange)?;
            // SAFETY: as for the previous `unsafe` block.
            unsafe { to.cast::<isize>().write(value) }
        }
    }
    Ok(())
}

fn encode_int(int: &IntCodec, value: u64) -> Result<u64, WriteError> {
    let distance = value.wrapping_sub(int.min);
    if distance <= int.span {
        return Ok(distance);
    }
    if !int.saturate {
        return Err(WriteError::OutOfRange);
    }
    let below = match int.repr {
        Repr::I8 | Repr::I16 | Repr::I32 | Repr::I64 | Repr::Isize => (value as i64) < int.min as i64,
        Repr::U8 | Repr::U16 | Repr::U32 | Repr::U64 | Repr::Usize => value < int.min,
    };
    Ok(if below { 0 } else { int.span })
}

fn decode_int(int: &IntCodec, reader: &mut BitReader<'_>) -> Result<u64, ReadError> {
    let distance = reader.read_bits(int.bits.into())?;
    if distance > int.span { Err(ReadError::OutOfRange) } else { Ok(int.min.wrapping_add(distance)) }
}

pub(crate) fn write_wide(number: u128, writer: &mut BitWriter) {
    writer.write_bits(number as u64, 64);
    writer.write_bits((number >> 64) as u64, 64);
}

pub(crate) fn read_wide(reader: &mut BitReader<'_>) -> Result<u128, ReadError> {
    let low = reader.read_bits(64)?;
    Ok(u128::from(low) | u128::from(reader.read_bits(64)?) << 64)
}

fn write_quaternion(value: [f32; 4], bits: u8, writer: &mut BitWriter) -> Result<(), WriteError> {
    let bits = u32::from(bits);
    let packed = quantize::encode_smallest_three(value, bits)?;
    writer.write_bits(packed, bits.saturating_mul(3).saturating_add(2));
    Ok(())
}

fn read_quaternion(bits: u8, reader: &mut BitReader<'_>) -> Result<[f32; 4], ReadError> {
    let bits = u32::from(bits);
    quantize::decode_smallest_three(reader.read_bits(bits.saturating_mul(3).saturating_add(2))?, bits)
}

fn write_unit_vector(value: [f32; 3], bits: u8, writer: &mut BitWriter) -> Result<(), WriteError> {
    let bits = u32::from(bits);
    writer.write_bits(quantize::encode_unit_vector(value, bits)?, 2 * bits);
    Ok(())
}

fn read_unit_vector(bits: u8, reader: &mut BitReader<'_>) -> Result<[f32; 3], ReadError> {
    let bits = u32::from(bits);
    quantize::decode_unit_vector(reader.read_bits(2 * bits)?, bits)
}

fn read_char(reader: &mut BitReader<'_>) -> Result<char, ReadError> {
    let is_short = reader.read_flag()?;
    let number = reader.read_bits(if is_short { SHORT_CHAR_BITS } else { CHAR_BITS })? as u32;
    if !is_short && number >> SHORT_CHAR_BITS == 0 {
        return Err(ReadError::OutOfRange);
    }
    char::from_u32(number).ok_or(ReadError::UnknownVariant)
}

/// Writes a `char`. The first 128 characters are the most common, and have a short form.
fn write_char(value: char, writer: &mut BitWriter) {
    let number = u32::from(value);
    let is_short = number >> SHORT_CHAR_BITS == 0;
    writer.write_flag(is_short);
    writer.write_bits(number.into(), if is_short { SHORT_CHAR_BITS } else { CHAR_BITS });
}
