//! Sessions: the handshake of each side, the classes and channels that it compares, and the reasons why
//! sessions end.
//!
//! *Invariant:* the state machine of each side receives bytes and times as arguments, and returns bytes and
//! outcomes.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

pub(crate) mod agreement;
pub(crate) mod client_handshake;
pub(crate) mod closing;
pub(crate) mod connection_id;
pub(crate) mod control;
pub(crate) mod disconnect;
pub(crate) mod identity;
pub(crate) mod inquiry;
pub(crate) mod limits;
pub(crate) mod login;
pub(crate) mod mismatch;
pub(crate) mod name;
#[cfg(test)]
mod pair;
pub(crate) mod poll_watch;
pub(crate) mod secret;
pub(crate) mod server_handshake;
pub(crate) mod server_outcome;
pub(crate) mod terms;
pub(crate) mod tick_watch;
pub(crate) mod trust;
