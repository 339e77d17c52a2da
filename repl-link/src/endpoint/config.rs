//! The limits of an endpoint.
//!
//! *Invariant:* every number of connections that an endpoint keeps is at most the sum of these limits.

/// The limits of an [`Endpoint`](crate::Endpoint).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointConfig {
    /// The greatest number of connections. A client beyond it learns
    /// [`DisconnectReason::Full`](crate::DisconnectReason::Full). At least 1. Default 1,024.
    ///
    /// Half-open connections count only as long as they leave half of the free places. Beyond that, a
    /// connection counts and begins (the event `Connected`) one round trip later, when
    /// its client has shown that it received the welcome. If it finds no place then, a half-open connection
    /// makes room. So half-open connections keep no client out, unless the application still decides about
    /// their logins. When a connection makes room for another one, the server reports first that the new one
    /// has begun, and then that the old one has ended.
    pub max_connections: usize,
    /// The greatest number of connections of one [origin](crate::Address::origin), for example of one IPv4
    /// address with all its ports. A client beyond it learns
    /// [`DisconnectReason::Full`](crate::DisconnectReason::Full), unless half-open connections of the same
    /// origin make room. Raise it if many players share an address, as behind a proxy or the NAT of a
    /// provider, or for a test with many clients on one machine. At least 1. Default 256.
    pub max_per_origin: usize,
    /// The greatest number of half-open connections: connections of clients that have proved their address,
    /// but have not shown yet that they received the welcome. At least 1. Default 256.
    ///
    /// One origin may have a 32nd of this limit, or of [`max_connections`](Self::max_connections) if that is
    /// smaller. It may always have one, and up to four as long as these are not more than half of the limit.
    ///
    /// If a limit is reached, one of the half-open connections that count ends with
    /// [`DisconnectReason::Full`](crate::DisconnectReason::Full) and is forgotten. Nobody can foresee which
    /// one. A connection whose login the application still decides never ends in this way. If all are such
    /// connections, the new client learns `Full`. So logins that take long to decide need a higher limit.
    pub max_half_open: usize,
    /// The greatest number of connections of this endpoint that have ended and are remembered, so that their
    /// clients learn why. Beyond the limit, the one that ended first is forgotten, but half-open ones before
    /// all others. At least 1. Default 1,024.
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
