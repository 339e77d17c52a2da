//! Functions that read and replace the text in a value. Each function in this file is generic over the type
//! that contains the text.
//!
//! *Invariant:* a function for one type is stored only in the codec of this type.
#![expect(unsafe_code, reason = "reaches text")]

use crate::object::opaque::opaque_copy;
use crate::schema::codec::TextLeaf;
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
