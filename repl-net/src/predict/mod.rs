//! What a client shows before the server has confirmed it, and what the server knows of what a client saw.
//!
//! *Invariant:* nothing here knows a server or a client. All times are ticks of the server.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

pub(crate) mod predicted;
pub(crate) mod together;
