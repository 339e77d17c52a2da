//! The limits of an endpoint.
//!
//! *Invariant:* the number of connections that an endpoint stores is at most the sum of these limits.

/// The limits of an [`Endpoint`](crate::Endpoint).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointConfig {
    /// The greatest number of connections. Further clients are refused with
    /// [`DisconnectReason::Full`](crate::DisconnectReason::Full). At least 1. Default 1,024.
    ///
    /// A connection is half-open until its client has shown that it received the welcome, the packet by which
    /// the server accepts it. Half-open connections may take half of the free places. Further half-open
    /// connections take no place yet. They begin (the event `Connected`), and need a place one round trip
    /// later, when their clients have shown that they received the welcome. If no place is free then, a
    /// half-open connection ends to make room. So half-open connections keep no client out, except
    /// connections about whose logins the application still decides. When one connection makes room for
    /// another, the server reports first that the new connection has begun, and then that the old connection
    /// has ended.
    pub max_connections: usize,
    /// The greatest number of connections of one [origin](crate::Address::origin), for example of one IPv4
    /// address with all its ports. Further clients are refused with
    /// [`DisconnectReason::Full`](crate::DisconnectReason::Full), unless half-open connections of the same
    /// origin can make room. Raise this limit if many players share an address, for example behind a proxy or
    /// the NAT of a provider, or for a test with many clients on one machine. At least 1. Default 256.
    pub max_per_origin: usize,
    /// The greatest number of half-open connections: connections of clients that have proved their address,
    /// but have not shown yet that they received the welcome. At least 1. Default 256.
    ///
    /// One origin may have a 32nd of this limit, or of [`max_connections`](Self::max_connections) if that is
    /// smaller. With small limits, an origin may have four half-open connections, but not more than half of
    /// the limit, and always at least one.
    ///
    /// If a limit is reached, one of the half-open connections, chosen unpredictably, ends with
    /// [`DisconnectReason::Full`](crate::DisconnectReason::Full) and is forgotten. A connection never ends in
    /// this way while the application still decides about its login. If the application still decides about
    /// all of them, the new client is refused with `Full`. Raise the limit if decisions about logins take
    /// long.
    pub max_half_open: usize,
    /// The greatest number of connections of this endpoint that have ended and are remembered, so that their
    /// clients learn why. Beyond the limit, the connection that ended first is forgotten. Connections that
    /// were half-open are forgotten before all others. At least 1. Default 1,024.
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
