//! Types that are sent as differences with the attribute `delta` alone: texts and lists.
//!
//! *Invariant:* what is read from a difference is never longer than a value may be.

mod anchors;
mod area;
mod hunks;
mod limit;
mod list;
mod stretches;
mod text;
mod window;

use crate::schema::delta::Delta;
use crate::schema::limits::{MAX_ELEMENTS, MAX_STRING_BYTES};
use crate::schema::property::Property;
use crate::schema::value::NetSerialize;
pub use list::ListDelta;
pub use text::TextDelta;

/// A type that can be sent as differences: `#[replicated(delta)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot have `delta` alone",
    label = "neither a `String` nor a `Vec`",
    note = "write `#[replicated(delta = module)]`, where the module has the functions that write and read differences",
    note = "a struct is sent by its fields, and a fast array or map by its elements, without `delta`"
)]
pub trait ByDifference: NetSerialize {
    /// How the differences are written.
    type Delta: Delta<Self>;
}

/// A type that can be sent as differences and limited by the attribute `max_len`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot have `delta` with `max_len`",
    label = "neither a `String` nor a `Vec`",
    note = "remove `max_len`, and limit the length where you change the value"
)]
pub trait ByLimitedDifference: ByDifference {
    /// How the differences of values of at most this length are written.
    type Limited<const MAX_LEN: u32>: Delta<Self>;
}

impl ByDifference for String {
    type Delta = TextDelta<MAX_STRING_BYTES>;
}

impl ByLimitedDifference for String {
    type Limited<const MAX_LEN: u32> = TextDelta<MAX_LEN>;
}

impl<T: Property + NetSerialize + Clone + Send + Sync> ByDifference for Vec<T> {
    type Delta = ListDelta<MAX_ELEMENTS>;
}

impl<T: Property + NetSerialize + Clone + Send + Sync> ByLimitedDifference for Vec<T> {
    type Limited<const MAX_LEN: u32> = ListDelta<MAX_LEN>;
}
