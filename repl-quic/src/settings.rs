//! How both sides use QUIC.
//!
//! *Invariant:* only the rate control of `repl` decides how fast a side sends, and all data is sent as
//! datagrams, not as streams.

use std::sync::Arc;
use std::time::Duration;

use quinn_proto::{IdleTimeout, TransportConfig, VarInt};

use crate::flight::{Flight, Unlimited};

/// The name of the protocol of `repl` in the handshake of TLS (ALPN).
pub(crate) const PROTOCOL: &[u8] = b"repl/1";

/// How many bytes of datagrams may wait in a connection to be sent or read: enough for a few ticks.
pub(crate) const DATAGRAM_BYTES: usize = 256 << 10;

/// The close code of a connection when its session is over, or cannot begin.
pub(crate) const OVER: u32 = 0;
/// The close code when the server is full.
pub(crate) const FULL: u32 = 1;
/// The close code when the other side took too long to begin, or to acknowledge packets.
pub(crate) const LATE: u32 = 2;

/// Returns the settings of a connection that ends after this silence. `flight` counts its packets.
pub(crate) fn transport(silence: Duration, flight: &Arc<Flight>) -> TransportConfig {
    let millis = u32::try_from(silence.as_millis()).unwrap_or(u32::MAX);
    let mut settings = TransportConfig::default();
    settings
        .max_concurrent_bidi_streams(VarInt::from_u32(0))
        .max_concurrent_uni_streams(VarInt::from_u32(0))
        .stream_receive_window(VarInt::from_u32(0))
        .receive_window(VarInt::from_u32(0))
        .send_window(0)
        .max_idle_timeout(Some(IdleTimeout::from(VarInt::from_u32(millis))))
        .datagram_receive_buffer_size(Some(DATAGRAM_BYTES))
        .datagram_send_buffer_size(DATAGRAM_BYTES)
        .congestion_controller_factory(Arc::new(Unlimited(Arc::clone(flight))));
    settings
}
