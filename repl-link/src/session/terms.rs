//! What a handshake needs to know of the side that it belongs to: its limits and times.
//!
//! *Invariant:* the terms of a side are the same in the whole session.

use std::time::Duration;

/// The limits of what one side can hold. The client's must be at least the server's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// The greatest size of a packet in bytes: 128 to 65,507.
    pub mtu_bytes: usize,
    /// The greatest number of objects at the same time.
    pub max_objects: usize,
    /// The greatest size of one object in bytes.
    pub max_object_bytes: usize,
}

/// Packets of 1,200 bytes, 65,536 objects, and 256 KiB for each.
impl Default for Capacity {
    fn default() -> Self {
        Self { mtu_bytes: 1_200, max_objects: 65_536, max_object_bytes: 256 << 10 }
    }
}

/// The terms of a client.
#[derive(Clone, Copy, Debug)]
pub struct ClientTerms<'a> {
    /// What the client can hold.
    pub capacity: Capacity,
    /// After this time of silence the client ends the session.
    pub timeout: Duration,
    /// What the client shows to the application of the server, at most 512 bytes.
    pub login: &'a [u8],
    /// Whether the client connects again after a session that it has lost.
    pub reconnects: bool,
    /// The number of the first packet of each session, the same on both sides.
    pub first_sequence: u64,
}

/// The terms of a server.
#[derive(Clone, Copy, Debug)]
pub struct ServerTerms {
    /// What each client must be able to hold.
    pub capacity: Capacity,
    /// After this time of silence the server ends the session.
    pub timeout: Duration,
    /// Whether the application decides about each client.
    pub asks_login: bool,
    /// How long the application may take for its decision.
    pub login_timeout: Duration,
}

/// How long each side waits for the other.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A timeout of 10 s, no login, and a client that connects again.
impl Default for ClientTerms<'_> {
    fn default() -> Self {
        let capacity = Capacity::default();
        Self { capacity, timeout: TIMEOUT, login: &[], reconnects: true, first_sequence: 0 }
    }
}

/// Timeouts of 10 s, and no logins.
impl Default for ServerTerms {
    fn default() -> Self {
        let capacity = Capacity::default();
        Self { capacity, timeout: TIMEOUT, asks_login: false, login_timeout: TIMEOUT }
    }
}
