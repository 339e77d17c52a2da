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
        let ours = unsafe { std::slice::from_raw_parts(one.add(run.offset), run.len) };
        // SAFETY: as above.
        let theirs = unsafe { std::slice::from_raw_parts(other.add(run.offset), run.len) };
        if ours != theirs {
            return true;
        }
    }
    for &offset in strings {
        // SAFETY: the plan of `T` says that a string lies here.
        let ours = unsafe { &*one.add(offset).cast::<String>() };
        // SAFETY: as above.
        let theirs = unsafe { &*other.add(offset).cast::<String>() };
        // Comparing two empty strings calls `memcmp` for nothing.
        if ours.len() != theirs.len() || (!ours.is_empty() && ours != theirs) {
            return true;
        }
    }
    false
}
