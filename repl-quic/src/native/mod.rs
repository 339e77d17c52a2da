//! Both sides on systems with sockets: QUIC by `quinn-proto`, TLS by `rustls`.
//!
//! *Invariant:* nothing of this is compiled for a browser, which has its own QUIC.

pub(crate) mod carrier;
pub(crate) mod certificate;
pub(crate) mod client;
mod connection_ids;
pub(crate) mod engine;
mod flight;
pub(crate) mod identity;
mod losses;
mod port;
pub(crate) mod server;
pub(crate) mod settings;
pub(crate) mod trust;
pub(crate) mod web;
pub(crate) mod wire;
