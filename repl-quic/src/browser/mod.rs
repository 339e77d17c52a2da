//! The client in a browser: the same [`QuicClient`](crate::QuicClient), over the browser's WebTransport.
//!
//! The modules that make decisions are plain Rust and are tested natively. Only the others call JavaScript.
//!
//! *Invariant:* the client's program is the same in a browser as natively.

pub(crate) mod address;
#[cfg(target_family = "wasm")]
mod bindings;
#[cfg(target_family = "wasm")]
pub(crate) mod client;
pub(crate) mod ends;
pub(crate) mod inbox;
#[cfg(target_family = "wasm")]
mod session;
#[cfg(target_family = "wasm")]
pub(crate) mod trust;
