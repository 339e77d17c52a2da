//! The inputs of players: what a client makes for each tick of the server, and sends before the server
//! reaches the tick.
//!
//! *Invariant:* a client stores an input as the server will read it, so both use the same value. Only
//! `on_client` and `on_server` know a client and a server.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

mod bundle;
mod clock;
mod coding;
mod copies;
mod lead;
mod made;
pub(crate) mod on_client;
pub(crate) mod on_server;
pub(crate) mod received;
mod registration;
mod report;
mod tick_times;
