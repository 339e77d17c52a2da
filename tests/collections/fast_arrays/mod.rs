//! Fast arrays from a server to its clients: items are sent by id, and only their changed properties, under
//! any loss (S134 to S185, R11, R12).
//!
//! *Invariant:* as a set by id, a client holds the same items as the server after a round trip without
//! changes.

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
