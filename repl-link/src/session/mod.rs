//! Sessions: the handshake of each side, what it agrees on, and the reasons why sessions end.
//!
//! *Invariant:* the state machine of each side takes bytes and times, and returns bytes and outcomes.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

pub mod agreement;
pub mod client_handshake;
pub mod closing;
pub mod connection_id;
pub mod control;
pub mod disconnect;
pub mod identity;
pub mod inquiry;
pub mod limits;
pub mod login;
pub mod mismatch;
pub mod name;
#[cfg(test)]
mod pair;
pub mod secret;
pub mod server_handshake;
pub mod terms;
pub mod tick_watch;
