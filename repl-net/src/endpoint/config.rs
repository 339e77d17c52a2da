//! The limits of an endpoint.
//!
//! *Invariant:* every number of connections that an endpoint keeps is below the sum of these limits.

/// The limits of an [`Endpoint`](crate::Endpoint).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointConfig {
    /// The greatest number of connections. A client beyond it learns
    /// [`DisconnectReason::Full`](crate::DisconnectReason::Full). At least 1. Default 1,024.
    pub max_connections: usize,
    /// The greatest number of connections of one [origin](crate::Address::origin), for example of one IPv4
    /// address with all its ports. A client beyond it learns
    /// [`DisconnectReason::Full`](crate::DisconnectReason::Full). Raise it if many players share an address,
    /// or for a test with many clients on one machine. At least 1. Default 256.
    pub max_per_origin: usize,
    /// The greatest number of half-open connections: connections of clients that have proved their address,
    /// but have not finished the handshake. They count as connections. An origin may have a 32nd of them, but
    /// at least four. Beyond a limit, one of the half-open connections that take the places ends with
    /// [`DisconnectReason::Full`](crate::DisconnectReason::Full). Nobody can foresee which one, but it is none
    /// about whose login the application still decides. If there is no other, the new client learns `Full`.
    /// At least 1. Default 256.
    pub max_half_open: usize,
    /// The greatest number of connections that have ended and are remembered, so that their clients learn
    /// why. Beyond the limit, the one that ended first is forgotten. At least 1. Default 1,024.
    pub max_ended: usize,
}

impl Default for EndpointConfig {
    fn default() -> Self {
        Self { max_connections: 1_024, max_per_origin: 256, max_half_open: 256, max_ended: 1_024 }
    }
}

impl EndpointConfig {
    /// # Panics
    /// Panics if a limit is zero. The message contains the name of the field.
    #[track_caller]
    pub(super) fn assert_valid(&self) {
        for (name, limit) in [
            ("max_connections", self.max_connections),
            ("max_per_origin", self.max_per_origin),
            ("max_half_open", self.max_half_open),
            ("max_ended", self.max_ended),
        ] {
            assert!(limit > 0, "`{name}` is at least 1, but 0 was asked for: no client could connect");
        }
    }
}
