//! The functions that the fuzzers run. Without a fuzzer, `tests/simulations/fuzz_corpora` runs them on the
//! inputs in `corpus`.
//!
//! *Invariant:* no input causes a panic, and a refused packet changes nothing.

pub mod bits;
pub mod classes;
pub mod endpoint;
#[allow(dead_code, reason = "a test forges more than is needed here")]
#[path = "../../tests/support/forge.rs"]
pub(crate) mod forge;
pub mod packets;
pub mod page_request;
pub mod talk;
pub mod to_client;
pub mod to_server;
pub mod values;
