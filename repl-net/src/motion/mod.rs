//! Movement of objects at times for which no value has arrived: between the server's ticks, beyond them
//! (prediction), and in its past.
//!
//! *Invariant:* nothing here depends on a server or a client. All ticks are ticks of the server.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

pub(crate) mod angle;
pub(crate) mod interpolate;
pub(crate) mod interpolated;
pub(crate) mod moving;
pub(crate) mod offset;
pub(crate) mod predict;
pub(crate) mod predicted;
pub(crate) mod rotation;
pub(crate) mod shown_tick;
pub(crate) mod smoothed;
pub(crate) mod spawns;
