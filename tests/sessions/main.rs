//! How clients connect and stay connected: the handshake, sessions, and the endpoint with its addresses.

#[path = "../support/forge.rs"]
#[allow(dead_code, reason = "each test file uses a part")]
mod forge;
#[path = "../support/mod.rs"]
mod support;

mod endpoint;
mod handshake;
mod host;
mod mismatches;
mod other_sessions;
