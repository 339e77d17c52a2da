//! How fast a link may send. Users of a link can bring a rate control of their own.
//!
//! *Invariant:* a link sends no body and no message for which its rate control has no room. Packets with
//! nothing but acks are small, and do not ask.
//!
//! A user of `repl` chooses a rate control by `CongestionControl::Custom`, and a crate that builds on this
//! one by the type [`Payload::Rate`](crate::parts::Payload::Rate). A new function of the trait also needs a
//! line in the implementation for boxes below, and in `Rate` of `repl-net` (`body/rate`), for which the
//! compiler does not ask if the function has a default. Another rate control of ours would be a variant of
//! that `Rate` and of `CongestionControl` (`session/config`). Clients always use [`Bbr`](crate::Bbr).

use std::fmt;
use std::time::Duration;

/// Decides how fast a link sends. [`Bbr`](crate::Bbr) is the default.
///
/// A link calls [`begin_pass`](Self::begin_pass) at the beginning of each tick in which it may send, then
/// [`sent`](Self::sent) for each packet, and [`end_pass`](Self::end_pass) at the end. Times never decrease.
/// All functions must be cheap: they are called for each packet. Packets are named by their numbers, which
/// increase. Packets that need no ack are not reported, so some numbers are missing.
pub trait RateControl: fmt::Debug + Send + Sync + 'static {
    /// Begins the packets of a tick. `timeouts` is the number of timeouts in a row without an ack.
    fn begin_pass(&mut self, now: Duration, timeouts: u32);

    /// Handles that nothing was sent in the ticks up to the time `until`, without a call of
    /// [`begin_pass`](Self::begin_pass) for each of them.
    fn has_rested(&mut self, until: Duration);

    /// Records that a packet was sent that the other side must ack.
    fn sent(&mut self, packet: u64, bytes: usize, now: Duration);

    /// Records that a packet has arrived at the other side.
    fn arrived(&mut self, packet: u64, bytes: usize);

    /// Records that a packet was declared lost.
    fn lost(&mut self, packet: u64, bytes: usize);

    /// Records that a packet has arrived that was declared lost before.
    fn arrived_late(&mut self, bytes: usize);

    /// Ends the processing of an ack. `newest` is the newest packet that was acked.
    fn acked(&mut self, newest: u64, now: Duration);

    /// Ends the packets of a tick. `is_short` says whether there was more to send than the limits allowed.
    fn end_pass(&mut self, now: Duration, is_short: bool);

    /// Returns how many more bytes may be sent in this tick. A packet is sent only if a packet of the
    /// greatest size has room.
    fn room_bytes(&self) -> usize;

    /// Returns how many more bytes of bulk messages may be sent in this tick, after everything else. What the
    /// next ticks need for state should be left, so that bulk messages do not delay it. By default, this is
    /// all the [room](Self::room_bytes) there is.
    fn rest_bytes(&self) -> usize {
        self.room_bytes()
    }

    /// Returns whether most packets are lost. Then a late ack only means that the acks before it were lost.
    fn loses_most(&self) -> bool;

    /// Sets the greatest size of the packets, which was an argument when the rate control was made. The size
    /// changes when the other side has told which packets it receives, and when the path carries others.
    fn set_packet_bytes(&mut self, bytes: usize) {
        let _ = bytes;
    }

    /// Forgets what was measured, because the packets take another way from now on.
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
