//! The trait of rate controls, which decide how fast a link may send. Users of a link can implement their
//! own.
//!
//! *Invariant:* a link sends bodies and messages only if its rate control has room for them. Packets with
//! only acks are small, so they are sent without asking the rate control.
//!
//! A user of `repl` sets a rate control with `CongestionControl::Custom`. A crate that builds on this crate
//! sets the type [`Payload::Rate`](crate::parts::Payload::Rate). Clients of `repl` always use
//! [`Bbr`](crate::Bbr).
//!
//! If you add a function to the trait, also add it to the implementation for boxes below, and to `Rate` in
//! `repl-net` (`body/rate`). The compiler does not report a missing function that has a default. To add
//! another built-in rate control, add a variant to this `Rate` and to `CongestionControl` (`session/config`).

use std::fmt;
use std::time::Duration;

/// Decides how fast a link sends. [`Bbr`](crate::Bbr) is the default.
///
/// A link calls [`begin_pass`](Self::begin_pass) at the beginning of each tick in which it may send, then
/// [`sent`](Self::sent) for each packet, and [`end_pass`](Self::end_pass) at the end. Times never decrease.
/// All functions must be cheap: they are called for each packet. Packets are identified by their numbers,
/// which increase. Packets that need no ack are not reported, so some numbers are missing.
pub trait RateControl: fmt::Debug + Send + Sync + 'static {
    /// Called before the packets of a tick are sent. `timeouts` is the number of timeouts in a row without an
    /// ack.
    fn begin_pass(&mut self, now: Duration, timeouts: u32);

    /// Called once after each series of ticks in which there was nothing to send, so that
    /// [`begin_pass`](Self::begin_pass) was not called. The last tick of the series was at the time `until`.
    /// Do what `begin_pass` would have done in these ticks: if unused room remains for later ticks, add the
    /// room for the time until `until`. Remember `until`, so that the next `begin_pass` adds only the room
    /// for the time after it.
    fn has_rested(&mut self, until: Duration);

    /// Records that a packet was sent. The other side must ack this packet.
    fn sent(&mut self, packet: u64, bytes: usize, now: Duration);

    /// Records that a packet has arrived at the other side.
    fn arrived(&mut self, packet: u64, bytes: usize);

    /// Records that a packet was declared lost.
    fn lost(&mut self, packet: u64, bytes: usize);

    /// Records that a packet that was declared lost has arrived.
    fn arrived_late(&mut self, bytes: usize);

    /// Called after an ack was processed. `newest` is the newest packet that was acked.
    fn acked(&mut self, newest: u64, now: Duration);

    /// Called after the packets of a tick were sent. `is_short` says whether there was more to send than the
    /// limits allowed.
    fn end_pass(&mut self, now: Duration, is_short: bool);

    /// Returns how many more bytes may be sent in this tick. A packet is sent only if this is at least the
    /// greatest size of a packet.
    fn room_bytes(&self) -> usize;

    /// Returns how many more bytes of bulk messages may be sent in this tick, after everything else. Leave
    /// the bytes that the next ticks need for state, so that bulk messages do not delay state. By default,
    /// returns the whole [room](Self::room_bytes).
    fn rest_bytes(&self) -> usize {
        self.room_bytes()
    }

    /// Returns whether most packets are lost. Then an ack is late only because earlier acks were lost.
    fn loses_most(&self) -> bool;

    /// Sets the greatest size of the packets. The rate control received the first size when it was made. The
    /// size changes when the handshake limits it, and when probes find a different size for the path.
    fn set_packet_bytes(&mut self, bytes: usize) {
        let _ = bytes;
    }

    /// Forgets all measurements, because the packets take another path from now on.
    fn reset(&mut self);

    /// Frees memory that was not needed recently.
    fn end_round(&mut self) {}
}

/// A rate control that is chosen at run time.
impl RateControl for Box<dyn RateControl> {
    fn begin_pass(&mut self, now: Duration, timeouts: u32) {
        (**self).begin_pass(now, timeouts);
    }

    fn has_rested(&mut self, until: Duration) {
        (**self).has_rested(until);
    }

    fn sent(&mut self, packet: u64, bytes: usize, now: Duration) {
        (**self).sent(packet, bytes, now);
    }

    fn arrived(&mut self, packet: u64, bytes: usize) {
        (**self).arrived(packet, bytes);
    }

    fn lost(&mut self, packet: u64, bytes: usize) {
        (**self).lost(packet, bytes);
    }

    fn arrived_late(&mut self, bytes: usize) {
        (**self).arrived_late(bytes);
    }

    fn acked(&mut self, newest: u64, now: Duration) {
        (**self).acked(newest, now);
    }

    fn end_pass(&mut self, now: Duration, is_short: bool) {
        (**self).end_pass(now, is_short);
    }

    fn room_bytes(&self) -> usize {
        (**self).room_bytes()
    }

    fn rest_bytes(&self) -> usize {
        (**self).rest_bytes()
    }

    fn loses_most(&self) -> bool {
        (**self).loses_most()
    }

    fn set_packet_bytes(&mut self, bytes: usize) {
        (**self).set_packet_bytes(bytes);
    }

    fn reset(&mut self) {
        (**self).reset();
    }

    fn end_round(&mut self) {
        (**self).end_round();
    }
}
