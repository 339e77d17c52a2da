//! The server's side over UDP, encrypted by QUIC.
//!
//! *Invariant:* the same code plays a match here and on the simulated network. Only the transport differs.

mod ear;
pub mod loopback;
pub mod open_match;
