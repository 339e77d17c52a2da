//! Checks of the indices and ranges that users pass to arrays.
//!
//! *Invariant:* if an index or a range is outside the array, the function panics before anything changes.

use std::ops::{Bound, Range, RangeBounds};

/// Returns the range with its start and its end as numbers.
///
/// # Panics
/// Panics if the range ends before it starts, or if it ends after `len`.
#[track_caller]
pub(crate) fn bounds(range: impl RangeBounds<usize>, len: usize) -> Range<usize> {
    let start = match range.start_bound() {
        Bound::Included(&start) => start,
        Bound::Excluded(&before) => before + 1,
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(&last) => last + 1,
        Bound::Excluded(&end) => end,
        Bound::Unbounded => len,
    };
    assert!(start <= end && end <= len, "{start}..{end} is no range of {len} items");
    start..end
}

#[cold]
#[track_caller]
pub(crate) fn no_item(index: usize, len: usize) -> ! {
    panic!("there is no item {index} among {len}")
}
