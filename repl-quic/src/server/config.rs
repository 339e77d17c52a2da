//! The limits of a server.
//!
//! *Invariant:* everything that a server stores for strangers is limited by one of these values.

use std::time::Duration;

use crate::web::WebOrigins;

/// The limits of a [`QuicServer`](crate::QuicServer).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuicConfig {
    /// The greatest number of clients. A further client is refused with
    /// [`DisconnectReason::Full`](repl_link::DisconnectReason::Full), and tries again. At least 1. Default
    /// 1,024.
    pub max_clients: usize,
    /// The greatest number of connections of one [origin](repl_link::Address::origin), for example of one
    /// IPv4 address with all its ports. Connections that are beginning or ending count, too. Set a greater
    /// limit if many players share an address, or for a test with many clients on one machine. If many
    /// clients of one origin connect at the same time, also raise [`max_handshakes`](Self::max_handshakes).
    /// At least 1. Default 256.
    pub max_per_origin: usize,
    /// The greatest number of newcomers. A connection is a newcomer until it has finished the TLS handshake
    /// and its first packet has arrived. At least 1. Default 256. Of the newcomers with a proved address, at
    /// most a 32nd of this number (but at least four) may be from one origin. The same limit applies to the
    /// newcomers without a proved address. The two kinds are counted separately, because anyone can forge an
    /// address.
    ///
    /// While there are 32 newcomers, or half of `max_handshakes` if that is less, each further client must
    /// prove its address before its handshake begins. This takes another round trip. Handshakes that have
    /// failed count, too, for at least [`handshake_timeout`](Self::handshake_timeout). An attacker with
    /// addresses in 32 origins, for example with a block of IPv6 addresses, can keep newcomers from
    /// connecting as long as the attack lasts. Connected clients are not affected. Ask the provider of the
    /// network to filter these addresses.
    pub max_handshakes: usize,
    /// A number for this process, if several processes have the same certificate and port, for example
    /// servers behind one load balancer. Each process must have its own number, and the same number after a
    /// restart. Otherwise an attacker could use one server to end the connections of another. Default 0.
    pub process: u64,
    /// Whether each client must prove its address before its handshake. With this, a server sends only short
    /// answers to a forged address. Default `false`: a server sends to an address at most three times the
    /// bytes that it has received from this address.
    pub always_retry: bool,
    /// How long a newcomer may take for the TLS handshake and its first packet. At least 1 ms. Default 5 s,
    /// which is enough for a round trip of 2 s with losses.
    pub handshake_timeout: Duration,
    /// The web pages whose players are accepted, over WebTransport. Default: none.
    ///
    /// Players in browsers and native players connect to the same port, and have the same limits. Each
    /// stranger and each client may make the server store up to 16 KiB more, for the streams of HTTP/3.
    pub web_origins: WebOrigins,
}

impl Default for QuicConfig {
    fn default() -> Self {
        Self {
            max_clients: 1_024,
            max_per_origin: 256,
            max_handshakes: 256,
            process: 0,
            always_retry: false,
            handshake_timeout: Duration::from_secs(5),
            web_origins: WebOrigins::none(),
        }
    }
}

impl QuicConfig {
    /// # Panics
    /// Panics if a limit is zero. The message contains the name of the field.
    #[track_caller]
    pub(crate) fn assert_valid(&self) {
        for (name, limit) in [
            ("max_clients", self.max_clients),
            ("max_per_origin", self.max_per_origin),
            ("max_handshakes", self.max_handshakes),
        ] {
            assert!(limit > 0, "`{name}` is at least 1, but 0 was asked for: no client could connect");
        }
        assert!(
            self.handshake_timeout >= Duration::from_millis(1),
            "`handshake_timeout` is at least 1 ms: no client could connect"
        );
    }
}
