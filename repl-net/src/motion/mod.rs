//! How objects move where no value has arrived: between the server's ticks, beyond them, and in its past.
//!
//! *Invariant:* nothing here knows a server or a client. Ticks are those of the server.
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
