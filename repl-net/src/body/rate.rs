//! The rate control of a link: the built-in one or one that the user supplies.
//!
//! *Invariant:* only a rate control from the user is called through a pointer; calls to the built-in one can
//! be inlined.

use std::time::Duration;

use repl_link::{Bbr, RateControl};

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "it stands in a box, and most links have the large variant")]
pub(crate) enum Rate {
    Bbr(Bbr),
    Custom(Box<dyn RateControl>),
}

impl Rate {
    /// Returns the built-in rate control, for packets of at most `packet_bytes` bytes.
    pub(crate) fn new(packet_bytes: usize) -> Self {
        Self::Bbr(Bbr::new(packet_bytes))
    }
}

impl RateControl for Rate {
    #[inline]
    fn begin_pass(&mut self, now: Duration, timeouts: u32) {
        match self {
            Self::Bbr(rate) => rate.begin_pass(now, timeouts),
            Self::Custom(rate) => rate.begin_pass(now, timeouts),
        }
    }

    #[inline]
    fn has_rested(&mut self, until: Duration) {
        match self {
            Self::Bbr(rate) => rate.has_rested(until),
            Self::Custom(rate) => rate.has_rested(until),
        }
    }

    #[inline]
    fn sent(&mut self, packet: u64, bytes: usize, now: Duration) {
        match self {
            Self::Bbr(rate) => rate.sent(packet, bytes, now),
            Self::Custom(rate) => rate.sent(packet, bytes, now),
        }
    }

    #[inline]
    fn arrived(&mut self, packet: u64, bytes: usize) {
        match self {
            Self::Bbr(rate) => rate.arrived(packet, bytes),
            Self::Custom(rate) => rate.arrived(packet, bytes),
        }
    }

    #[inline]
    fn lost(&mut self, packet: u64, bytes: usize) {
        match self {
            Self::Bbr(rate) => rate.lost(packet, bytes),
            Self::Custom(rate) => rate.lost(packet, bytes),
        }
    }

    #[inline]
    fn arrived_late(&mut self, bytes: usize) {
        match self {
            Self::Bbr(rate) => rate.arrived_late(bytes),
            Self::Custom(rate) => rate.arrived_late(bytes),
        }
    }

    #[inline]
    fn acked(&mut self, newest: u64, now: Duration) {
        match self {
            Self::Bbr(rate) => rate.acked(newest, now),
            Self::Custom(rate) => rate.acked(newest, now),
        }
    }

    #[inline]
    fn end_pass(&mut self, now: Duration, is_short: bool) {
        match self {
            Self::Bbr(rate) => rate.end_pass(now, is_short),
            Self::Custom(rate) => rate.end_pass(now, is_short),
        }
    }

    #[inline]
    fn room_bytes(&self) -> usize {
        match self {
            Self::Bbr(rate) => rate.room_bytes(),
            Self::Custom(rate) => rate.room_bytes(),
        }
    }

    #[inline]
    fn rest_bytes(&self) -> usize {
        match self {
            Self::Bbr(rate) => rate.rest_bytes(),
            Self::Custom(rate) => rate.rest_bytes(),
        }
    }

    #[inline]
    fn loses_most(&self) -> bool {
        match self {
            Self::Bbr(rate) => rate.loses_most(),
            Self::Custom(rate) => rate.loses_most(),
        }
    }

    #[inline]
    fn set_packet_bytes(&mut self, bytes: usize) {
        match self {
            Self::Bbr(bbr) => bbr.set_packet_bytes(bytes),
            Self::Custom(custom) => custom.set_packet_bytes(bytes),
        }
    }

    fn reset(&mut self) {
        match self {
            Self::Bbr(rate) => rate.reset(),
            Self::Custom(rate) => rate.reset(),
        }
    }

    #[inline]
    fn end_round(&mut self) {
        match self {
            Self::Bbr(rate) => rate.end_round(),
            Self::Custom(rate) => rate.end_round(),
        }
    }
}
