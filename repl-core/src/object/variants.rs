//! Functions that access enums without knowing their types.
//!
//! *Invariant:* a function for one enum is stored only in the shape of this enum.
#![expect(unsafe_code, reason = "reaches the fields of variants")]

use std::any::type_name;
use std::ptr;

use crate::object::arrays::array_shape;
use crate::schema::shape::{EnumShape, Kind, Shape};
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
            array: array_shape(element, true, parts, resize::<T>),
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
