//! Computes how much the outbox may send. The limits are: packets, bytes and memory, the user's budget, and
//! the congestion control.
//!
//! *Invariant:* if nothing is in flight, the limits on packets, bytes and memory in flight allow one packet.
//! So a limit that is smaller than a packet does not stop the connection. All other limits may stop every
//! packet of a tick.

use std::time::Duration;

use super::{Outbox, Rest, SEGMENT_BITS, frame_bits};
use crate::frame::sequence::WINDOW;
use crate::rate::byte_budget::ByteBudget;
use crate::rate::rate_control::RateControl;
use crate::sent::payload::Payload;

/// The greatest number of bytes of memory that the record of a packet usually occupies for each byte of the
/// packet. In rare cases a record occupies more, because an object of a few bytes in the packet has a
/// changelist in the record.
const RECORD_BYTES_PER_BYTE: usize = 48;

/// Bulk messages (more than 64 KiB) leave one of this many parts of the bytes in flight to all other data.
const REST_SHARE: usize = 8;

/// The number of packets that may be in flight when the memory of the connection is used up. Their acks free
/// memory.
const PROBES: usize = 4;

impl<P: Payload> Outbox<P> {
    /// Returns how many bits of a packet are free for a whole segment or a table with one entry, which is
    /// encoded once for several connections.
    pub fn body_bits(&self) -> usize {
        self.max_bits() - frame_bits::<P>()
    }

    /// Returns how many bits of an empty packet are free for its body.
    pub fn capacity(&self) -> usize {
        self.max_bits() - frame_bits::<P>() - SEGMENT_BITS
    }

    /// Updates the send rate for this tick. The argument `timeouts` is the number of timeouts in a row
    /// without an ack.
    pub fn pace(&mut self, now: Duration, timeouts: u32) {
        if let Some(congestion) = &mut self.congestion {
            congestion.begin_pass(now, timeouts);
        }
        if let Some(budget) = &mut self.budget {
            budget.begin_pass(now, self.mtu_bytes);
        }
    }

    /// Does the work of [`pace`](Self::pace) afterwards for ticks in which nothing was sent and `pace` was
    /// not called. The last of these ticks was at the time `until`.
    pub fn has_rested(&mut self, until: Duration) {
        if let Some(congestion) = &mut self.congestion {
            congestion.has_rested(until);
        }
        if let Some(budget) = &mut self.budget {
            budget.begin_pass(until, self.mtu_bytes);
        }
    }

    /// Returns whether the limit on packets in a second allows one more packet.
    pub fn allows_packet(&mut self, now: Duration) -> bool {
        self.is_limited_by_packets = self.packet_limit.as_mut().is_some_and(|limit| !limit.allows(now));
        !self.is_limited_by_packets
    }

    /// Sets how many bytes may be sent in a second. With `usize::MAX` there is no limit.
    pub fn set_budget(&mut self, bytes_per_second: usize, now: Duration) {
        self.budget =
            (bytes_per_second < usize::MAX).then(|| Box::new(ByteBudget::new(bytes_per_second, now)));
    }

    /// Returns whether the link or the limits are so tight that one tick may not be enough to send
    /// everything.
    pub fn is_limited(&self) -> bool {
        self.limits.bytes_per_pass < usize::MAX
            || self.budget.is_some()
            || self.was_short
            || self.in_flight.packets() > WINDOW as usize / 2
    }

    /// Returns whether nothing more may be sent in this tick. While more may be sent,
    /// [`make_room`](Self::make_room) says whether a certain number of bits fits.
    pub fn is_exhausted(&self) -> bool {
        self.record.is_none() && !self.may_begin_packet()
    }

    /// Returns whether the limits of the connection allow another packet. If nothing is in flight, the limits
    /// on packets, bytes and memory in flight always allow one packet, because a limit that is smaller than a
    /// packet must not stop the connection.
    fn may_begin_packet(&self) -> bool {
        debug_assert!(self.record.is_none(), "the packet being filled does not count yet");
        if self.pass_bytes >= self.limits.bytes_per_pass || !self.queue.takes_state(self.mtu_bytes) {
            return false;
        }
        if self.budget.as_ref().is_some_and(|budget| !budget.allows_packet()) {
            return false;
        }
        if self.is_limited_by_packets
            || self.congestion.as_ref().is_some_and(|rate| rate.room_bytes() < self.mtu_bytes)
        {
            return false;
        }
        let (packets, bytes) = (self.in_flight.packets(), self.in_flight.bytes());
        packets == 0
            || packets < self.limits.packets_in_flight.min(WINDOW as usize)
                && bytes.saturating_add(self.mtu_bytes) <= self.limits.bytes_in_flight
                && (packets < PROBES || self.has_memory())
    }

    /// From now on until the end of the tick, messages receive only the room that all other data of this tick
    /// and of the next tick does not need.
    pub(crate) fn begin_rest(&mut self) {
        self.rest = Some(Rest { is_short: self.is_short(), has_refused: false });
    }

    /// Returns whether `bits` more bits may be sent. After [`begin_rest`](Self::begin_rest), room for the
    /// next tick must remain in the congestion control and in the user's budget, and an eighth of the packets
    /// and bytes that may be in flight must remain unused.
    pub(super) fn leaves_room(&mut self, bits: usize) -> bool {
        if self.rest.is_none() {
            return true;
        }
        let begins_packet = self.record.is_none() || self.room() < bits.saturating_add(2 * SEGMENT_BITS);
        let filling = self.filling_bits().saturating_add(if begins_packet { 0 } else { bits }).div_ceil(8);
        let needed = filling.saturating_add(if begins_packet { self.mtu_bytes } else { 0 });
        let has_rate = self.congestion.as_ref().is_none_or(|rate| rate.rest_bytes() >= needed);
        self.rest.iter_mut().for_each(|rest| rest.has_refused |= !has_rate);
        let (packets, bytes) = (self.in_flight.packets(), self.in_flight.bytes());
        let (most_packets, most_bytes) =
            (self.limits.packets_in_flight.min(WINDOW as usize), self.limits.bytes_in_flight);
        let is_in_window = packets < most_packets - most_packets / REST_SHARE
            && bytes.saturating_add(self.mtu_bytes) <= most_bytes - most_bytes / REST_SHARE;
        has_rate && self.affords(bits) && (is_in_window || packets == 0)
    }

    /// Makes sure that a packet has room for `bits` more bits. If the bits do not fit into the packet that is
    /// being filled, completes it and begins another packet. Afterwards, [`sequence`](Self::sequence) is the
    /// number of the packet with the room. Returns `false` if the limits of the connection do not allow
    /// another packet.
    #[must_use]
    pub fn make_room(&mut self, bits: usize, now: Duration) -> bool {
        if self.record.is_some() {
            if self.room() >= bits + 2 * SEGMENT_BITS {
                return true;
            }
            self.flush(now);
        }
        let may_begin = self.may_begin_packet();
        self.has_refused |= !may_begin;
        may_begin
    }

    /// Returns whether the limits have prevented something from being sent in this tick, or allow nothing
    /// more now.
    pub fn has_refused(&self) -> bool {
        self.has_refused || self.is_exhausted()
    }

    /// Returns whether the limits have prevented something from being sent since the last call, or allow
    /// nothing more now.
    pub fn take_refused(&mut self) -> bool {
        std::mem::take(&mut self.has_refused) || self.is_exhausted()
    }

    /// Returns about how many more bytes the limits allow in this tick.
    pub fn budget_bytes(&self) -> usize {
        let packets =
            self.limits.packets_in_flight.min(WINDOW as usize).saturating_sub(self.in_flight.packets());
        let in_flight = self.limits.bytes_in_flight.saturating_sub(self.in_flight.bytes());
        let link = self.congestion.as_ref().map_or(usize::MAX, |congestion| congestion.room_bytes());
        let pass = self.limits.bytes_per_pass.saturating_sub(self.pass_bytes);
        let budget = self.budget.as_ref().map_or(usize::MAX, |budget| budget.left_bytes());
        packets.saturating_mul(self.mtu_bytes).min(in_flight).min(link).min(pass).min(budget)
    }

    /// Returns whether the user's budget has room for a shared segment. If there is no room, the segment is
    /// sent entry by entry.
    pub fn affords(&self, segment_bits: usize) -> bool {
        segment_bits.saturating_add(frame_bits::<P>()) <= self.unspent_bits()
    }

    /// Returns how many bits are still free for updates in the packet that is being filled. If no packet is
    /// being filled, returns the free bits of an empty packet.
    pub fn packet_room(&self) -> usize {
        match self.record {
            Some(_) => self.max_bits().saturating_sub(self.filling_bits() + 2),
            None => self.max_bits() - frame_bits::<P>(),
        }
    }

    /// Returns how many bits the limits allow for further updates in the packet that is being filled. The
    /// first update of a packet may exceed the budget, so that an update larger than the budget of a tick can
    /// be sent at all.
    pub fn room(&self) -> usize {
        let unspent = if self.record.is_some() { self.unspent_bits() } else { usize::MAX };
        self.packet_room().min(unspent)
    }

    fn unspent_bits(&self) -> usize {
        let left = self.budget.as_ref().map_or(usize::MAX, |budget| budget.left_bytes());
        left.saturating_mul(8).saturating_sub(self.filling_bits())
    }

    /// Returns whether the memory limit has room for the record of one more packet.
    pub fn has_memory(&self) -> bool {
        let record_bytes = self.mtu_bytes.saturating_mul(RECORD_BYTES_PER_BYTE);
        self.memory_bytes().saturating_add(record_bytes) <= self.limits.memory_bytes
    }

    /// Returns whether the connection occupies more memory than its limit allows.
    pub fn is_over_memory(&self) -> bool {
        self.memory_bytes() > self.limits.memory_bytes
    }

    /// Returns about how many bytes of memory the connection occupies in total. Costs O(1).
    pub fn memory_bytes(&self) -> usize {
        self.held_bytes().saturating_add(self.other_bytes)
    }

    /// Returns about how many bytes of memory the packets, their records and the spare buffers occupy. Costs
    /// O(1).
    fn held_bytes(&self) -> usize {
        self.in_flight.held_bytes() + self.queue.waiting.held_bytes()
    }
}
