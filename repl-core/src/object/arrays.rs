//! Functions that access arrays of variable length. Each function in this file is generic over the element
//! type.
//!
//! *Invariant:* a function for one array type is stored only in the shape of this array type.
#![expect(unsafe_code, reason = "reaches the elements of arrays")]

use crate::schema::shape::{ArrayShape, Shape};

/// The functions that access a `Vec<T>`.
pub(crate) mod vec {
    use crate::schema::property::Property;

    /// # Safety
    /// `array` points to an aligned `Vec<T>`.
    pub(crate) unsafe fn parts<T: Property>(array: *const u8) -> (*const u8, usize) {
        // SAFETY: the caller guarantees this.
        let vec = unsafe { &*array.cast::<Vec<T>>() };
        (vec.as_ptr().cast(), vec.len())
    }

    /// # Safety
    /// `array` points to an aligned `Vec<T>` and is valid for writes.
    pub(crate) unsafe fn resize<T: Property>(array: *mut u8, len: usize) -> *mut u8 {
        // SAFETY: the caller guarantees this.
        let vec = unsafe { &mut *array.cast::<Vec<T>>() };
        vec.resize_with(len, T::initial);
        vec.as_mut_ptr().cast()
    }
}

/// The functions that access an `Option<T>` as an array of at most one element.
pub(crate) mod option {
    use std::ptr;

    use crate::schema::property::Property;

    /// # Safety
    /// `array` points to an aligned `Option<T>`.
    pub(crate) unsafe fn parts<T: Property>(array: *const u8) -> (*const u8, usize) {
        // SAFETY: the caller guarantees this.
        match unsafe { &*array.cast::<Option<T>>() } {
            Some(value) => (ptr::from_ref(value).cast(), 1),
            None => (ptr::null(), 0),
        }
    }

    /// # Safety
    /// `array` points to an aligned `Option<T>` and is valid for writes.
    pub(crate) unsafe fn resize<T: Property>(array: *mut u8, len: usize) -> *mut u8 {
        // SAFETY: the caller guarantees this.
        let option = unsafe { &mut *array.cast::<Option<T>>() };
        if len == 0 {
            *option = None;
            return ptr::null_mut();
        }
        ptr::from_mut(option.get_or_insert_with(T::initial)).cast()
    }
}

/// Returns the shape of an array that is accessed by the functions of [`mod@vec`] or [`mod@option`].
pub(crate) const fn array_shape(
    element: &'static Shape,
    optional: bool,
    parts: unsafe fn(*const u8) -> (*const u8, usize),
    resize: unsafe fn(*mut u8, usize) -> *mut u8,
) -> ArrayShape {
    ArrayShape {
        element,
        optional,
        max_len: if optional { 1 } else { crate::schema::limits::MAX_ELEMENTS },
        parts,
        resize,
        same_variant: None,
    }
}
