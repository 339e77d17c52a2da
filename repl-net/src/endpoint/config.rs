//! The limits of an endpoint.
//!
//! *Invariant:* every number of connections that an endpoint keeps is below the sum of these limits.

/// The limits of an [`Endpoint`](crate::Endpoint).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointConfig {
    /// The greatest number of connections. A client beyond it learns
    /// [`DisconnectReason::Full`](crate::DisconnectReason::Full). At least 1. Default 1,024.
    pub max_connections: usize,
    /// The greatest number of half-open connections: connections of clients that have proved their address,
    /// but have not finished the handshake. They count as connections. Beyond the limit, the oldest half-open
    /// connection ends with [`DisconnectReason::Full`](crate::DisconnectReason::Full). At least 1. Default
    /// 256.
    pub max_half_open: usize,
    /// The greatest number of connections that have ended and are remembered, so that their clients learn
    /// why. Beyond the limit, the one that ended first is forgotten. At least 1. Default 1,024.
    pub max_ended: usize,
}

impl Default for EndpointConfig {
    fn default() -> Self {
        Self { max_connections: 1_024, max_half_open: 256, max_ended: 1_024 }
    }
}

impl EndpointConfig {
    /// # Panics
    /// Panics if a limit is zero. The message contains the name of the field.
    #[track_caller]
    pub(super) fn assert_valid(&self) {
        for (name, limit) in [
            ("max_connections", self.max_connections),
            ("max_half_open", self.max_half_open),
            ("max_ended", self.max_ended),
        ] {
            assert!(limit > 0, "`{name}` is at least 1, but 0 was asked for: no client could connect");
        }
    }
}
