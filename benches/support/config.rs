//! The configuration of servers whose work is measured.
//!
//! *Invariant:* no limit delays a packet, so each tick does the same work.

use repl::{CongestionControl, ServerConfig};

/// Everything is sent in the tick that makes it.
pub(crate) fn at_once() -> ServerConfig {
    ServerConfig {
        congestion_control: CongestionControl::Off,
        validate_addresses: false,
        ..ServerConfig::default()
    }
}
