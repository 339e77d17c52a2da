//! Counts the unacknowledged packets of a connection, because each of them takes memory. The count does not
//! limit the send rate, because only the rate control of `repl` may do this.
//!
//! *Invariant:* all paths of a connection share one count, so the count continues when a client moves to
//! another address.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use quinn_proto::congestion::{Controller, ControllerFactory};

/// The number of the newest packet that was sent, and the number of the newest packet that was acknowledged.
#[derive(Debug, Default)]
pub(crate) struct Flight {
    sent: AtomicU64,
    acknowledged: AtomicU64,
}

impl Flight {
    /// Returns the number of packets after the newest acknowledged packet. Older packets count as lost.
    pub(crate) fn packets(&self) -> u64 {
        self.sent.load(Ordering::Relaxed).saturating_sub(self.acknowledged.load(Ordering::Relaxed))
    }
}

/// A congestion controller that counts the packets of a connection and never limits them.
#[derive(Clone, Debug)]
pub(crate) struct Unlimited(pub(crate) Arc<Flight>);

/// The congestion window in bytes. A connection never has so many bytes in flight.
const WINDOW: u64 = 1 << 30;

impl ControllerFactory for Unlimited {
    fn build(self: Arc<Self>, _: Instant, _: u16) -> Box<dyn Controller> {
        self.clone_box()
    }
}

impl Controller for Unlimited {
    fn on_sent(&mut self, _: Instant, _: u64, last: u64) {
        self.0.sent.fetch_max(last, Ordering::Relaxed);
    }

    fn on_end_acks(&mut self, _: Instant, _: u64, _: bool, largest: Option<u64>) {
        self.0.acknowledged.fetch_max(largest.unwrap_or(0), Ordering::Relaxed);
    }

    fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, _: u64) {}

    fn on_mtu_update(&mut self, _: u16) {}

    fn window(&self) -> u64 {
        WINDOW
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        WINDOW
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paths_of_a_connection_share_one_count() {
        let (flight, now) = (Arc::<Flight>::default(), Instant::now());
        let factory = Arc::new(Unlimited(Arc::clone(&flight)));
        let mut paths = [Arc::clone(&factory), factory].map(|factory| factory.build(now, 1_200));
        paths[0].on_sent(now, 1_000, 70);
        let mut moved = paths[0].clone_box();
        moved.on_sent(now, 1_000, 75);
        assert_eq!(flight.packets(), 75);
        paths[1].on_sent(now, 1_000, 80);
        moved.on_end_acks(now, 0, false, Some(72));
        assert_eq!(flight.packets(), 8);
    }
}
