//! Objects outside the server: it is handed those that changed, and has no live copy.
//!
//! *Invariant:* a test writes to an object only where it lives, never through the server.

mod copy_out;
mod fleet;
mod handing_over;
mod limits;
mod misuse;
mod same_bytes;
mod store;
#[path = "../support/mod.rs"]
mod support;
