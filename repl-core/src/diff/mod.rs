//! Compares a live object with its shadow (the values that clients receive).
//!
//! *Invariant:* the shadow contains only values that have a wire form (R3).

mod arrays;
pub(crate) mod compare;
pub(crate) mod item_sizes;
pub(crate) mod places;
pub(crate) mod refusal;
pub(crate) mod scale;
pub(crate) mod sizes;
