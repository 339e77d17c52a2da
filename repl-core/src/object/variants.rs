//! Functions that access enums without knowing their types.
//!
//! *Invariant:* a function for one enum is stored only in the shape of this enum.
#![expect(unsafe_code, reason = "reaches the fields of variants")]

use std::any::type_name;
use std::{ptr, slice};

use crate::object::arrays::array_shape;
use crate::schema::shape::{ArrayShape, EnumShape, Kind, Shape};
use crate::schema::variants::Variants;

/// Returns the only element of an enum as an array: the enum itself.
///
/// # Safety
/// This function reads nothing, so every pointer is allowed.
unsafe fn parts(value: *const u8) -> (*const u8, usize) {
    (value, 1)
}

/// # Safety
/// `value` points to an aligned `T` and is valid for writes.
unsafe fn resize<T: Variants>(value: *mut u8, variant: usize) -> *mut u8 {
    // SAFETY: the caller guarantees this.
    let old = unsafe { &mut *value.cast::<T>() };
    if old.active() != variant
        && let Some(new) = T::make(variant)
    {
        *old = new;
    }
    value
}

/// # Safety
/// `value` points to an aligned `T`.
unsafe fn active<T: Variants>(value: *const u8) -> usize {
    // SAFETY: the caller guarantees this.
    unsafe { &*value.cast::<T>() }.active()
}

/// # Safety
/// `value` points to an aligned `T`.
unsafe fn offset<T: Variants>(value: *const u8, field: usize) -> Option<usize> {
    // SAFETY: the caller guarantees this.
    let at = unsafe { &*value.cast::<T>() }.field(field);
    at.addr().checked_sub(value.addr()).filter(|offset| !at.is_null() && *offset <= size_of::<T>())
}

/// Returns whether both enums have the same variant, all its fields are plain memory, and the fields are
/// equal byte for byte.
///
/// # Safety
/// Both pointers point to an aligned `T`.
unsafe fn same_variant<T: Variants>(one: *const u8, other: *const u8) -> bool {
    // SAFETY: the caller guarantees this.
    let one = unsafe { &*one.cast::<T>() };
    // SAFETY: the caller guarantees this.
    let other = unsafe { &*other.cast::<T>() };
    let active = one.active();
    let fields = T::VARIANTS.get(active).map_or(&[][..], |variant| variant.fields);
    active == other.active()
        && fields.iter().enumerate().all(|(index, field)| {
            // SAFETY: the enums have the same variant, so both have this field, and its type is plain memory.
            field.shape.bitwise
                && unsafe { same_memory(one.field(index), other.field(index), field.shape.size) }
        })
}

/// # Safety
/// Both pointers point to `bytes` initialised bytes.
unsafe fn same_memory(one: *const u8, other: *const u8, bytes: usize) -> bool {
    // SAFETY: the caller guarantees this.
    let one = unsafe { slice::from_raw_parts(one, bytes) };
    // SAFETY: the caller guarantees this.
    one == unsafe { slice::from_raw_parts(other, bytes) }
}

fn offsets<T: Variants>(variant: usize) -> Vec<usize> {
    let Some(value) = T::make(variant) else { return Vec::new() };
    let fields = T::VARIANTS.get(variant).map_or(0, |variant| variant.fields.len());
    // SAFETY: the pointer points to a `T`.
    (0..fields).filter_map(|field| unsafe { offset::<T>(ptr::from_ref(&value).cast(), field) }).collect()
}

/// # Safety
/// `value` points to an aligned `T` and is valid for writes.
unsafe fn replace<T: Variants>(value: *mut u8, variant: usize, keep: &mut dyn FnMut() -> bool) {
    let Some(new) = T::make(variant) else { return };
    // SAFETY: the caller guarantees this.
    let old = unsafe { value.cast::<T>().replace(new) };
    if !keep() {
        // SAFETY: as for the previous `unsafe` block.
        drop(unsafe { value.cast::<T>().replace(old) });
    }
}

impl EnumShape {
    /// Returns the shape of the enum `T`.
    const fn of<T: Variants>() -> Self {
        // The element is a value as large as the enum. It has the fields of the active variant, so its shape
        // does not list them.
        let element = const {
            &Shape {
                name: "",
                rust_name: type_name::<T>,
                size: size_of::<T>(),
                bitwise: false,
                kind: Kind::Struct(&[]),
                form: None,
            }
        };
        Self {
            variants: T::VARIANTS,
            array: ArrayShape {
                same_variant: Some(same_variant::<T>),
                ..array_shape(element, true, parts, resize::<T>)
            },
            active: active::<T>,
            offset: offset::<T>,
            offsets: offsets::<T>,
            replace: replace::<T>,
        }
    }
}

impl Shape {
    /// Returns the shape of an enum that is sent field by field.
    #[must_use]
    pub const fn variants<T: Variants>(name: &'static str) -> Self {
        let kind = Kind::Enum(const { &EnumShape::of::<T>() });
        Self { name, rust_name: type_name::<T>, size: size_of::<T>(), bitwise: false, kind, form: None }
    }
}
