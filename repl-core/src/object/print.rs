//! Prints single values in memory or on the wire as text for people.
//!
//! *Invariant:* a value in memory is printed exactly, without the rounding of its wire form.
#![expect(unsafe_code, reason = "reads values")]

use std::fmt::{self, Debug};

use crate::bits::{BitSlice, BitWriter};
use crate::ids::reference::ReferenceMap;
use crate::object::leaf::{load_int, read_value, write_value};
use crate::object::text::read_text;
use crate::schema::codec::{Codec, Repr};
use crate::{AssetRef, ObjectRef};

/// Prints a value. For a value with its own serialiser, prints only the number of its bits, because its type
/// is not known.
///
/// # Safety
/// `value` points to an aligned value of the type that `codec` is for.
pub(super) unsafe fn value(codec: &Codec, value: *const u8, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match codec {
        // SAFETY: `value` has the type that the codec states; the same in each arm below.
        Codec::Bool => unsafe { value.cast::<bool>().read() }.fmt(f),
        Codec::Int(int) => {
            // SAFETY: as for the previous `unsafe` block.
            let number = unsafe { load_int(int.repr, value) };
            match int.repr {
                Repr::U8 | Repr::U16 | Repr::U32 | Repr::U64 | Repr::Usize => number.fmt(f),
                Repr::I8 | Repr::I16 | Repr::I32 | Repr::I64 | Repr::Isize => (number as i64).fmt(f),
            }
        }
        // SAFETY: as for the previous `unsafe` block.
        Codec::Wide => write!(f, "{:#x}", unsafe { value.cast::<u128>().read() }),
        // SAFETY: as for the previous `unsafe` block.
        Codec::F32 | Codec::QuantizedF32(_) => unsafe { value.cast::<f32>().read() }.fmt(f),
        // SAFETY: as for the previous `unsafe` block.
        Codec::F64 | Codec::QuantizedF64(_) => unsafe { value.cast::<f64>().read() }.fmt(f),
        // SAFETY: as for the previous `unsafe` block.
        Codec::SmallestThree { .. } => unsafe { value.cast::<[f32; 4]>().read() }.fmt(f),
        // SAFETY: as for the previous `unsafe` block.
        Codec::UnitVector { .. } => unsafe { value.cast::<[f32; 3]>().read() }.fmt(f),
        // SAFETY: as for the previous `unsafe` block.
        Codec::Char => unsafe { value.cast::<char>().read() }.fmt(f),
        Codec::String { text, .. } => {
            // SAFETY: as for the previous `unsafe` block; the functions in `text` were made for the type of
            // the value.
            let text = unsafe { (text.get)(value) };
            // SAFETY: the text is borrowed as long as the value.
            unsafe { &*text }.fmt(f)
        }
        // SAFETY: as for the previous `unsafe` block; references to objects of all types have the same form
        // in memory.
        Codec::Reference => unsafe { value.cast::<ObjectRef<()>>().read() }.fmt(f),
        // SAFETY: as for the previous `unsafe` block; references to assets of all types have the same form in
        // memory.
        Codec::Asset => unsafe { value.cast::<AssetRef<()>>().read() }.fmt(f),
        Codec::Opaque(_) => {
            let mut writer = BitWriter::new();
            // SAFETY: as for the previous `unsafe` block.
            match unsafe { write_value(codec, value, &mut writer) } {
                Ok(()) => write!(f, "<{} bits>", writer.bit_len()),
                Err(error) => write!(f, "<{error}>"),
            }
        }
    }
}

/// Memory for one value of any codec, except texts and values with their own serialisers.
#[repr(align(16))]
struct Room([u8; 16]);

const _: () = assert!(size_of::<u128>() <= size_of::<Room>() && align_of::<u128>() <= align_of::<Room>());
const _: () = assert!(size_of::<[f32; 4]>() <= size_of::<Room>());

/// Prints a value on the wire in the same way as [`value`].
pub(crate) fn wire_value(
    codec: &Codec,
    bits: BitSlice<'_>,
    references: &mut ReferenceMap<'_>,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let (mut reader, mut room) = (bits.reader(), Room([0; 16]));
    let read = match codec {
        Codec::Opaque(_) => return write!(f, "<{} bits>", bits.len()),
        Codec::String { max_bytes, .. } => match read_text(*max_bytes, &mut reader) {
            Ok(text) => return text.fmt(f),
            Err(error) => Err(error),
        },
        Codec::Bool
        | Codec::Int(_)
        | Codec::Wide
        | Codec::F32
        | Codec::F64
        | Codec::QuantizedF32(_)
        | Codec::QuantizedF64(_)
        | Codec::SmallestThree { .. }
        | Codec::UnitVector { .. }
        | Codec::Char
        | Codec::Reference
        | Codec::Asset => {
            // SAFETY: the values of these codecs are plain memory. `Room` is compared with the widest of
            // these types, so the values fit. The room is aligned for them and can be written.
            unsafe { read_value(codec, &mut reader, references, room.0.as_mut_ptr()) }
        }
    };
    match read {
        // SAFETY: the value was stored there by the same codec.
        Ok(()) => unsafe { value(codec, room.0.as_ptr(), f) },
        Err(error) => write!(f, "<{error}>"),
    }
}
