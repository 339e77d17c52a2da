//! Fast arrays from a server to its clients: items by id, deltas of what changed, whatever is lost (S134 to S185, R11, R12).
//!
//! *Invariant:* as a set by id, what a client holds after a quiet round trip is what the server holds.

#[path = "../support/mod.rs"]
mod support;

mod basics;
mod campaign;
mod classes;
mod deltas;
mod large;
mod nested;
mod ops;
mod push;
mod replay;
mod statements;
mod told;
mod units;
