//! How servers are set up where their work is measured.
//!
//! *Invariant:* no link holds anything back, so each tick does the same work.

use repl::{CongestionControl, ServerConfig};

/// Everything goes out in the tick in which it is there to be sent.
pub(crate) fn at_once() -> ServerConfig {
    ServerConfig {
        congestion_control: CongestionControl::Off,
        validate_addresses: false,
        ..ServerConfig::default()
    }
}
