//! How both sides use QUIC.
//!
//! *Invariant:* only the rate control of `repl` decides how fast a side sends, and nothing is sent but
//! datagrams.

use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quinn_proto::congestion::{Controller, ControllerFactory};
use quinn_proto::{IdleTimeout, TransportConfig, VarInt};

/// The name of the protocol of `repl` in the handshake of TLS (ALPN).
pub(crate) const PROTOCOL: &[u8] = b"repl/1";

/// How many bytes of datagrams wait in a connection to be sent or read: a few ticks.
pub(crate) const DATAGRAM_BYTES: usize = 256 << 10;

/// What a connection is closed with when its session is over, or cannot begin.
pub(crate) const OVER: u32 = 0;
/// The same when there is no room for one more client.
pub(crate) const FULL: u32 = 1;
/// The same when the client took too long to begin.
pub(crate) const LATE: u32 = 2;

/// Returns the settings of a connection that ends after so much silence.
pub(crate) fn transport(silence: Duration) -> TransportConfig {
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
        .congestion_controller_factory(Arc::new(Unlimited));
    settings
}

/// Lets everything through: `repl` has its own rate control.
#[derive(Clone, Copy, Debug)]
struct Unlimited;

/// So many bytes may be in flight: more than ever are.
const WINDOW: u64 = 1 << 30;

impl ControllerFactory for Unlimited {
    fn build(self: Arc<Self>, _: Instant, _: u16) -> Box<dyn Controller> {
        Box::new(*self)
    }
}

impl Controller for Unlimited {
    fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, _: u64) {}

    fn on_mtu_update(&mut self, _: u16) {}

    fn window(&self) -> u64 {
        WINDOW
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(*self)
    }

    fn initial_window(&self) -> u64 {
        WINDOW
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
