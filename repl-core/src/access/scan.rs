//! Scanning: whether two objects differ in their plain memory and their strings, compiled for each type.
//!
//! Invariant: only bytes that the plan lists are read, and the plan lists no padding.

use crate::plan::{Planned, Run};

/// Whether the runs and the strings of two objects differ.
#[inline]
pub(crate) fn runs_differ<T: Planned>(one: &T, other: &T) -> bool {
    let runs: &[Run] = const { T::PLAN.runs() };
    let strings: &[usize] = const { T::PLAN.strings() };
    let (one, other) = (std::ptr::from_ref(one).cast::<u8>(), std::ptr::from_ref(other).cast::<u8>());
    for run in runs {
        // SAFETY: the plan of `T` lists initialised bytes inside a `T`.
        let ours = unsafe { bytes(one, run) };
        // SAFETY: as above.
        let theirs = unsafe { bytes(other, run) };
        if ours != theirs {
            return true;
        }
    }
    for &offset in strings {
        // SAFETY: the plan of `T` says that a string lies here.
        let ours = unsafe { string(one, offset) };
        // SAFETY: as above.
        let theirs = unsafe { string(other, offset) };
        // Comparing two empty strings calls `memcmp` for nothing.
        if ours.len() != theirs.len() || (!ours.is_empty() && ours != theirs) {
            return true;
        }
    }
    false
}

/// # Safety
/// The bytes of `run`, counted from `object`, are initialised and lie inside an object that is borrowed for `'a`.
#[inline]
unsafe fn bytes<'a>(object: *const u8, run: &Run) -> &'a [u8] {
    // SAFETY: by the caller.
    let first = unsafe { object.add(run.offset) };
    // SAFETY: by the caller.
    unsafe { std::slice::from_raw_parts(first, run.len) }
}

/// # Safety
/// A string lies `offset` bytes into an object that is borrowed for `'a`.
#[inline]
unsafe fn string<'a>(object: *const u8, offset: usize) -> &'a String {
    // SAFETY: by the caller.
    let at = unsafe { object.add(offset) };
    // SAFETY: by the caller.
    unsafe { &*at.cast::<String>() }
}
