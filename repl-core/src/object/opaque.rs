//! Functions for leaves that serialise themselves. Each function in this file is generic over the type of the
//! leaf.
//!
//! *Invariant:* a function for one type is stored only in the shape of this type.
#![expect(unsafe_code, reason = "reaches values through their own functions")]
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use crate::bits::{BitReader, BitWriter, ReadError, WriteError};
use crate::ids::reference::ReferenceMap;
use crate::schema::attributes::CloneAsUnit;
use crate::schema::codec::Codec;
use crate::schema::opaque::OpaqueLeaf;
use crate::schema::shape::{Shape, WireForm};
use crate::schema::value::{NetSerialize, With, same_bits};

/// # Safety
/// Both pointers point to an aligned `T`.
pub(crate) unsafe fn opaque_identical<T: NetSerialize>(a: *const u8, b: *const u8) -> bool {
    // SAFETY: the caller guarantees this.
    let a = unsafe { &*a.cast::<T>() };
    // SAFETY: the caller guarantees this.
    let b = unsafe { &*b.cast::<T>() };
    a.identical(b)
}

/// # Safety
/// Both pointers point to an aligned `T`; the two pointers differ, and `to` is valid for writes.
pub(crate) unsafe fn opaque_copy<T: Clone>(from: *const u8, to: *mut u8) {
    // SAFETY: the caller guarantees this.
    let from = unsafe { &*from.cast::<T>() };
    // SAFETY: the caller guarantees this.
    let to = unsafe { &mut *to.cast::<T>() };
    to.clone_from(from);
}

/// # Safety
/// `value` points to an aligned `T`.
pub(crate) unsafe fn opaque_write<T: NetSerialize>(
    value: *const u8,
    writer: &mut BitWriter,
) -> Result<(), WriteError> {
    // SAFETY: the caller guarantees this.
    unsafe { &*value.cast::<T>() }.write(writer)
}

/// # Safety
/// `to` points to an aligned `T` and is valid for writes.
pub(crate) unsafe fn opaque_read<T: NetSerialize>(
    to: *mut u8,
    reader: &mut BitReader<'_>,
    references: &mut ReferenceMap<'_>,
) -> Result<(), ReadError> {
    let value = T::read(reader, references)?;
    // SAFETY: the caller guarantees this.
    unsafe { *to.cast::<T>() = value };
    Ok(())
}

/// # Safety
/// Both pointers point to an aligned `T`.
pub(crate) unsafe fn with_identical<T: 'static, W: With<T>>(a: *const u8, b: *const u8) -> bool {
    // SAFETY: the caller guarantees this.
    let a = unsafe { &*a.cast::<T>() };
    // SAFETY: the caller guarantees this.
    let b = unsafe { &*b.cast::<T>() };
    same_bits(|writer| W::write(a, writer), |writer| W::write(b, writer))
}

/// # Safety
/// `value` points to an aligned `T`.
pub(crate) unsafe fn with_write<T: 'static, W: With<T>>(
    value: *const u8,
    writer: &mut BitWriter,
) -> Result<(), WriteError> {
    // SAFETY: the caller guarantees this.
    W::write(unsafe { &*value.cast::<T>() }, writer)
}

/// # Safety
/// `to` points to an aligned `T` and is valid for writes.
pub(crate) unsafe fn with_read<T: 'static, W: With<T>>(
    to: *mut u8,
    reader: &mut BitReader<'_>,
    references: &mut ReferenceMap<'_>,
) -> Result<(), ReadError> {
    let value = W::read(reader, references)?;
    // SAFETY: the caller guarantees this.
    unsafe { *to.cast::<T>() = value };
    Ok(())
}

impl OpaqueLeaf {
    pub(crate) const fn of<T: NetSerialize + Clone>() -> Self {
        Self {
            checksum: T::WIRE_FORM.checksum,
            identical: opaque_identical::<T>,
            copy: opaque_copy::<T>,
            write: opaque_write::<T>,
            read: opaque_read::<T>,
            validate: |reader, references| T::read(reader, references).map(drop),
            delta: None,
        }
    }

    pub(crate) const fn with<T: Clone + 'static, W: With<T>>(form: &WireForm) -> Self {
        Self {
            checksum: form.checksum,
            identical: with_identical::<T, W>,
            copy: opaque_copy::<T>,
            write: with_write::<T, W>,
            read: with_read::<T, W>,
            validate: |reader, references| W::read(reader, references).map(drop),
            delta: None,
        }
    }
}

impl Shape {
    /// Returns the shape of a type with its own serialiser. Such a type has one command in the program, and
    /// is compared and sent as a unit.
    #[must_use]
    pub const fn opaque<T: NetSerialize + CloneAsUnit>() -> Self {
        let shape = Self::leaf::<T>(T::WIRE_NAME, false, Codec::Opaque(OpaqueLeaf::of::<T>()));
        Self { form: Some(T::WIRE_FORM), ..shape }
    }

    /// Returns the shape of a field with its own serialiser (`with = module`). Such a field also has one
    /// command in the program.
    #[must_use]
    pub const fn custom<T: CloneAsUnit + 'static, W: With<T>>() -> Self {
        let form = const { &WireForm::custom::<T, W>() };
        let shape = Self::leaf::<T>(W::WIRE_NAME, false, Codec::Opaque(OpaqueLeaf::with::<T, W>(form)));
        Self { form: Some(form), ..shape }
    }
}
