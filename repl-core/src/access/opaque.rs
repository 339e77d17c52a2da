//! The functions of leaves that serialise themselves, each made for one type.
//!
//! Invariant: a function is only ever stored in the shape of the type it was made for.
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
use crate::reference::ReferenceMap;
use crate::value::{NetSerialize, ReadError, With, WriteError, same_bits};

/// # Safety
/// Both pointers hold an aligned `T`.
pub(crate) unsafe fn opaque_identical<T: NetSerialize>(a: *const u8, b: *const u8) -> bool {
    // SAFETY: by the caller.
    let a = unsafe { &*a.cast::<T>() };
    // SAFETY: by the caller.
    let b = unsafe { &*b.cast::<T>() };
    a.identical(b)
}

/// # Safety
/// Both pointers hold an aligned `T`; they differ, and `to` may be written.
pub(crate) unsafe fn opaque_copy<T: Clone>(from: *const u8, to: *mut u8) {
    // SAFETY: by the caller.
    let from = unsafe { &*from.cast::<T>() };
    // SAFETY: by the caller.
    let to = unsafe { &mut *to.cast::<T>() };
    to.clone_from(from);
}

/// # Safety
/// `value` holds an aligned `T`.
pub(crate) unsafe fn opaque_write<T: NetSerialize>(
    value: *const u8,
    writer: &mut BitWriter,
) -> Result<(), WriteError> {
    // SAFETY: by the caller.
    unsafe { &*value.cast::<T>() }.write(writer)
}

/// # Safety
/// `to` holds an aligned `T`, and may be written.
pub(crate) unsafe fn opaque_read<T: NetSerialize>(
    to: *mut u8,
    reader: &mut BitReader<'_>,
    references: &mut ReferenceMap<'_>,
) -> Result<(), ReadError> {
    let value = T::read(reader, references)?;
    // SAFETY: by the caller.
    unsafe { *to.cast::<T>() = value };
    Ok(())
}

/// # Safety
/// Both pointers hold an aligned `T`.
pub(crate) unsafe fn with_identical<T: 'static, W: With<T>>(a: *const u8, b: *const u8) -> bool {
    // SAFETY: by the caller.
    let a = unsafe { &*a.cast::<T>() };
    // SAFETY: by the caller.
    let b = unsafe { &*b.cast::<T>() };
    same_bits(|writer| W::write(a, writer), |writer| W::write(b, writer))
}

/// # Safety
/// `value` holds an aligned `T`.
pub(crate) unsafe fn with_write<T: 'static, W: With<T>>(
    value: *const u8,
    writer: &mut BitWriter,
) -> Result<(), WriteError> {
    // SAFETY: by the caller.
    W::write(unsafe { &*value.cast::<T>() }, writer)
}

/// # Safety
/// `to` holds an aligned `T`, and may be written.
pub(crate) unsafe fn with_read<T: 'static, W: With<T>>(
    to: *mut u8,
    reader: &mut BitReader<'_>,
    references: &mut ReferenceMap<'_>,
) -> Result<(), ReadError> {
    let value = W::read(reader, references)?;
    // SAFETY: by the caller.
    unsafe { *to.cast::<T>() = value };
    Ok(())
}
