//! The configuration of the servers that are measured.
//!
//! *Invariant:* no limit delays a packet, so each tick does all of its work.

use repl::{CongestionControl, ServerConfig};

/// Returns a configuration with which every packet is sent in the tick in which it becomes necessary.
pub(crate) fn at_once() -> ServerConfig {
    ServerConfig {
        congestion_control: CongestionControl::Off,
        validate_addresses: false,
        ..ServerConfig::default()
    }
}
