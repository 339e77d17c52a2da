//! Computes the movement of objects at times for which no value has arrived: between the server's ticks
//! (interpolation), after them (prediction), and in the past.
//!
//! *Invariant:* this module does not use servers and clients. All ticks are ticks of the server.
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
