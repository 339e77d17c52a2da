//! What server and client may be told at their making.
//!
//! Invariant: every queue and every cache has its limit here.

use std::time::Duration;

/// Limits and times of a server.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// The largest packet in bytes, 128 to 65,507; no more than the clients' [`ClientConfig::mtu_bytes`], which drop larger ones. Default
    /// 1,200.
    pub mtu_bytes: usize,
    /// A connection that is silent for so long is closed. Default 10 s.
    pub timeout: Duration,
    /// Packets of state sent to a connection and not yet acknowledged or given up, at most 1,024 (R6). Default 1,024.
    pub max_packets_in_flight: usize,
    /// Their bytes. Default 4 MiB.
    pub max_bytes_in_flight: usize,
    /// Bytes that go to one connection in one tick; the rest follows in later ticks. Default no limit.
    pub max_bytes_per_tick: usize,
    /// Whether value bits are serialised once for all connections that need the same (S88). The packets are the same either way
    /// (S90). Default `true`.
    pub share: bool,
    /// The number of the first packet of a connection, about the same at both ends: for tests near the wrap. Default 0.
    pub first_sequence: u64,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            mtu_bytes: 1_200,
            timeout: Duration::from_secs(10),
            max_packets_in_flight: 1_024,
            max_bytes_in_flight: 4 << 20,
            max_bytes_per_tick: usize::MAX,
            share: true,
            first_sequence: 0,
        }
    }
}

/// Limits and times of a client.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// The largest packet in bytes: larger ones are dropped unread, so no less than the server's. At least 128. Default 1,200.
    pub mtu_bytes: usize,
    /// A server that is silent for so long is given up. Default 10 s.
    pub timeout: Duration,
    /// The slots of the server's world that this client can hold objects of, whether it sees them or not: no fewer than the server has
    /// objects at a time. A server that opens an object beyond it is disconnected. Default 65,536.
    pub max_objects: usize,
    /// Bytes of objects that arrive in fragments, held until they are whole. A property larger than this ends the connection: keep
    /// `max_len` so that none is. Default 256 KiB.
    pub max_reassembly_bytes: usize,
    /// Whether received bits are counted by class and property. Default `false`.
    pub measure: bool,
    /// The number of the first packet, about the same at both ends: for tests near the wrap. Default 0.
    pub first_sequence: u64,
}

impl Default for ClientConfig {
    fn default() -> Self {
        Self {
            mtu_bytes: 1_200,
            timeout: Duration::from_secs(10),
            max_objects: 65_536,
            max_reassembly_bytes: 256 << 10,
            measure: false,
            first_sequence: 0,
        }
    }
}
