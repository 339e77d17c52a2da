//! Functions for leaves that are sent as differences. Each function is generic over the type of the leaf.
//!
//! *Invariant:* a function for one type is stored only in the shape of this type.
#![expect(unsafe_code, reason = "reaches values through their own functions")]
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use crate::bits::{BitReader, BitWriter, Head, ReadError, Rendition, WriteError};
use crate::ids::base::{Base, ReceivedRendition};
use crate::ids::reference::ReferenceMap;
use crate::object::opaque::opaque_copy;
use crate::schema::attributes::CloneAsUnit;
use crate::schema::codec::Codec;
use crate::schema::delta::Delta;
use crate::schema::opaque::{DeltaLeaf, OpaqueLeaf};
use crate::schema::shape::{Shape, WireForm};
use crate::schema::value::NetSerialize;

/// # Safety
/// Both pointers point to an aligned `T`.
unsafe fn delta_identical<T: 'static, D: Delta<T>>(a: *const u8, b: *const u8) -> bool {
    // SAFETY: the caller guarantees this.
    let a = unsafe { &*a.cast::<T>() };
    // SAFETY: the caller guarantees this.
    let b = unsafe { &*b.cast::<T>() };
    D::is_same(a, b)
}

/// # Safety
/// `value` points to an aligned `T`.
unsafe fn delta_write<T: NetSerialize>(value: *const u8, writer: &mut BitWriter) -> Result<(), WriteError> {
    // SAFETY: the caller guarantees this.
    unsafe { rendition_write::<T>(value, &Rendition::default(), writer) }
}

/// # Safety
/// `value` points to an aligned `T`.
unsafe fn rendition_write<T: NetSerialize>(
    value: *const u8,
    rendition: &Rendition,
    writer: &mut BitWriter,
) -> Result<(), WriteError> {
    // SAFETY: the caller guarantees this.
    let value = unsafe { &*value.cast::<T>() };
    rendition.write(writer, |writer| value.write(writer))
}

/// # Safety
/// `to` points to an aligned `T` and is valid for writes.
unsafe fn delta_read<T: NetSerialize, D: Delta<T>>(
    to: *mut u8,
    reader: &mut BitReader<'_>,
    references: &mut ReferenceMap<'_>,
) -> Result<(), ReadError> {
    let (value, received) = read::<T, D>(reader, references)?;
    // SAFETY: the caller guarantees this.
    unsafe { *to.cast::<T>() = value };
    references.note_rendition(received);
    Ok(())
}

/// Reads a value that is whole or a difference.
fn read<T: NetSerialize, D: Delta<T>>(
    reader: &mut BitReader<'_>,
    references: &mut ReferenceMap<'_>,
) -> Result<(T, ReceivedRendition), ReadError> {
    let Head { keeps, difference } = Head::read(reader)?;
    let received = |base| ReceivedRendition { handle: 0, keeps, base };
    let Some((revision, bits)) = difference else {
        return Ok((T::read(reader, references)?, received(None)));
    };
    let base = references.base(revision);
    let state = base
        .as_ref()
        .and_then(Base::state::<D::State>)
        .ok_or(ReadError::Other("a difference to a value that was not kept"))?;
    let mut bits = bits.reader();
    let value = D::read(state, &mut bits, references)?;
    if bits.remaining() > 0 {
        return Err(ReadError::OutOfRange);
    }
    Ok((value, received(Some(revision))))
}

/// Reads a value without storing it. Only its length is checked if it is a difference and no values were kept.
fn validate<T: NetSerialize, D: Delta<T>>(
    reader: &mut BitReader<'_>,
    references: &mut ReferenceMap<'_>,
) -> Result<(), ReadError> {
    if references.has_bases() {
        return read::<T, D>(reader, references).map(drop);
    }
    match Head::read(reader)?.difference {
        Some(_) => Ok(()),
        None => T::read(reader, references).map(drop),
    }
}

impl DeltaLeaf {
    const fn of<T: NetSerialize, D: Delta<T>>() -> Self {
        Self {
            write: rendition_write::<T>,
            base: |value| {
                // SAFETY: the caller guarantees that `value` points to an aligned `T`.
                Base::of::<T, D>(unsafe { &*value.cast::<T>() })
            },
            difference: |base, value, writer| {
                let state = base.state::<D::State>().ok_or(WriteError::Other("a base of another type"))?;
                // SAFETY: the caller guarantees that `value` points to an aligned `T`.
                D::write(state, unsafe { &*value.cast::<T>() }, writer)
            },
        }
    }
}

impl Shape {
    /// Returns the shape of a field that is sent as differences. Like a type that serialises itself, it has
    /// one command in the program.
    #[must_use]
    pub const fn delta<T: NetSerialize + CloneAsUnit, D: Delta<T>>() -> Self {
        let form = const { &WireForm::delta::<T, D>() };
        let leaf = OpaqueLeaf {
            checksum: form.checksum,
            identical: delta_identical::<T, D>,
            copy: opaque_copy::<T>,
            write: delta_write::<T>,
            read: delta_read::<T, D>,
            validate: validate::<T, D>,
            delta: Some(const { &DeltaLeaf::of::<T, D>() }),
        };
        let shape = Self::leaf::<T>(T::WIRE_NAME, false, Codec::Opaque(leaf));
        Self { form: Some(form), ..shape }
    }
}
