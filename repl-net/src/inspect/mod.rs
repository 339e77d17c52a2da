//! Looks inside packets: finds the entries in their bodies, for statistics and logs.
//!
//! *Invariant:* nothing here changes what is sent or applied.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

pub(crate) mod label;
pub(crate) mod survey;
pub(crate) mod traffic;
pub(crate) mod tree;
