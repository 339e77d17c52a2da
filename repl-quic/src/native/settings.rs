//! The QUIC settings of both sides.
//!
//! *Invariant:* only the rate control of `repl` limits how fast a side sends. All packets are sent as
//! datagrams. Only browsers send streams, with the few bytes that begin and end a session of WebTransport.

use std::sync::Arc;
use std::time::Duration;

use quinn_proto::{IdleTimeout, TransportConfig, VarInt};

use crate::native::flight::{Flight, Unlimited};

/// The name of the protocol of `repl` in the TLS handshake (ALPN).
pub(crate) const PROTOCOL: &[u8] = b"repl/1";

/// The name of HTTP/3 in the TLS handshake. Browsers use it.
pub(crate) const HTTP_3: &[u8] = b"h3";

/// The greatest number of bytes of datagrams that may wait in a connection, in each direction. It is enough
/// for a few ticks.
pub(crate) const DATAGRAM_BYTES: usize = 256 << 10;

/// Which streams the other side may open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Streams {
    None,
    /// One for the session of WebTransport, and those of HTTP/3 that each browser opens.
    OfBrowsers,
}

impl Streams {
    /// Returns the protocols that a server offers, the preferred one first.
    pub(crate) fn protocols(self) -> &'static [&'static [u8]] {
        match self {
            Self::None => &[PROTOCOL],
            Self::OfBrowsers => &[PROTOCOL, HTTP_3],
        }
    }
}

/// The greatest number of streams in one direction that a browser may have open. HTTP/3 needs three, and
/// browsers open further ones as a test.
const BROWSER_STREAMS: u32 = 8;

/// The greatest number of bytes of a stream that may wait to be read, or to be acknowledged.
const STREAM_BYTES: u32 = 8 << 10;

/// Returns the settings of a connection. If nothing arrives for the time `silence`, it ends. `flight` counts
/// its packets.
pub(crate) fn transport(silence: Duration, flight: &Arc<Flight>, streams: Streams) -> TransportConfig {
    let millis = u32::try_from(silence.as_millis()).unwrap_or(u32::MAX);
    let mut settings = TransportConfig::default();
    let [sessions, others, bytes] = match streams {
        Streams::None => [0; 3],
        Streams::OfBrowsers => [1, BROWSER_STREAMS, STREAM_BYTES],
    };
    settings
        .max_concurrent_bidi_streams(VarInt::from_u32(sessions))
        .max_concurrent_uni_streams(VarInt::from_u32(others))
        .stream_receive_window(VarInt::from_u32(bytes))
        .receive_window(VarInt::from_u32(bytes.saturating_mul(2)))
        .send_window(bytes.into())
        .max_idle_timeout(Some(IdleTimeout::from(VarInt::from_u32(millis))))
        .datagram_receive_buffer_size(Some(DATAGRAM_BYTES))
        .datagram_send_buffer_size(DATAGRAM_BYTES)
        .congestion_controller_factory(Arc::new(Unlimited(Arc::clone(flight))));
    settings
}
