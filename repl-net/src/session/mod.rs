//! The session layer: the handshake, the configuration, and the events and reasons that users see.
//!
//! *Invariant:* the session layer does not use replicated objects. The state machine of each side takes bytes
//! and times, and returns bytes and outcomes.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

pub(crate) mod archetype;
pub(crate) mod classes;
pub(crate) mod client_handshake;
pub(crate) mod closing;
pub(crate) mod config;
pub(crate) mod connection_id;
pub(crate) mod control;
pub(crate) mod disconnect;
pub(crate) mod events;
pub(crate) mod identity;
pub(crate) mod inquiry;
pub(crate) mod limits;
pub(crate) mod login;
pub(crate) mod mismatch;
pub(crate) mod name;
#[cfg(test)]
mod pair;
pub(crate) mod secret;
pub(crate) mod server_handshake;
pub(crate) mod tick_watch;
pub(crate) mod time_budget;
pub(crate) mod traffic;
pub(crate) mod type_map;
