//! The QUIC settings of both sides.
//!
//! *Invariant:* only the rate control of `repl` limits how fast a side sends. All data is sent as datagrams,
//! not as streams.

use std::sync::Arc;
use std::time::Duration;

use quinn_proto::{IdleTimeout, TransportConfig, VarInt};

pub(crate) use crate::codes::{FULL, LATE, OVER};
use crate::flight::{Flight, Unlimited};

/// The name of the protocol of `repl` in the TLS handshake (ALPN).
pub(crate) const PROTOCOL: &[u8] = b"repl/1";

/// The greatest number of bytes of datagrams that may wait in a connection, in each direction. It is enough
/// for a few ticks.
pub(crate) const DATAGRAM_BYTES: usize = 256 << 10;

/// Returns the settings of a connection. If nothing arrives for the time `silence`, it ends. `flight` counts
/// its packets.
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
