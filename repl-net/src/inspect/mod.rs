//! Finds the entries in the bodies of packets, for statistics and logs.
//!
//! *Invariant:* this module changes nothing that is sent or applied.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

pub(crate) mod label;
pub(crate) mod survey;
pub(crate) mod traffic;
pub(crate) mod tree;
