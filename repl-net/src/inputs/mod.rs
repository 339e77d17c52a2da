//! The inputs of players. A client makes an input for each tick of the server, and sends it before the server
//! reaches the tick.
//!
//! *Invariant:* a client stores an input as the server will read it, so both sides use equal values. Only
//! `on_client` and `on_server` use the types [`Client`](crate::Client) and [`Server`](crate::Server).
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

mod bundle;
mod client_inbox;
mod clock;
mod coding;
mod copies;
pub(crate) mod error;
mod lead;
mod made;
pub(crate) mod on_client;
pub(crate) mod on_server;
pub(crate) mod received;
mod registration;
mod report;
mod server_inbox;
pub(crate) mod tick_input;
mod tick_times;
