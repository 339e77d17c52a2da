//! The outbox of a connection fills packets, numbers them, records the content of each packet, and puts the
//! packets into the send queue.
//!
//! *Invariant:* each packet of state in the queue has its own number and one record of its content. All
//! packets of a tick have the same stamp, which is the number of the first packet of the tick (R1). In names,
//! a *pass* is everything that is sent to the peer in one tick.

mod draft;
mod limits;
mod writing;

use std::collections::VecDeque;
use std::time::Duration;

use repl_core::__private::{preload, preload_all};

use super::acks::{AckRange, Received};
use super::byte_budget::ByteBudget;
use super::congestion::Congestion;
use super::in_flight::{Delivery, InFlight, Record};
use super::packet::{self, Header, LastSeed, PacketKind, Salt};
use super::rate_limit::RateLimit;
use super::rtt::SendTimes;
use super::send_queue::SendQueue;
use super::sequence::Sequence;
use super::status::{ConnectionStatus, STATUS_BITS, StatusSource};
pub(crate) use draft::Draft;

/// The greatest number of bits that the frame of a packet takes. The frame consists of the checksum, the
/// kind, the number, the offset to the stamp, the floor, the status, the acks, and the end of the body.
pub(crate) const FRAME_BITS: usize = 32 + 1 + 16 + 24 + 24 + STATUS_BITS + MAX_ACK_BITS + 1;

/// The greatest number of bits that acks take in a packet with state.
const MAX_ACK_BITS: usize = 79;

/// One packet in this many contains the floor: the oldest packet for which the sender does not know whether
/// it has arrived.
const FLOOR_INTERVAL: u64 = 32;

/// For how many packets that counted as lost a late ack is still understood.
const MAX_GIVEN_UP: usize = 128;

/// The number of packets that a client may send in a second. After a pause, it may send the same number
/// without any delay between them.
pub(crate) const PACKETS_PER_SECOND: u32 = 2_000;

/// Fills, numbers and queues the packets of a connection.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    pub(crate) in_flight: InFlight,
    pub(crate) send_times: SendTimes,
    next: Sequence,
    /// The number of packets that were completed in this tick.
    pass_packets: u64,
    /// The packet that is being filled. In a box, because the connections of a server share one.
    draft: Box<Draft>,
    /// The record of the packet that is being filled.
    record: Option<Box<Record>>,
    /// The complete packets with state, and the control packets between them.
    pub(crate) queue: SendQueue,
    /// The number of bytes of memory that the connection takes outside the outbox. This memory is measured in
    /// each tick, before and after the packets are sent.
    pub(crate) other_bytes: usize,
    /// The number of bytes in the packets that were completed in this tick.
    pass_bytes: usize,
    limits: Limits,
    /// Whether all acks that are due fitted into the packets of this tick.
    has_acked_all: bool,
    /// Decides which status of the server the packets contain. `status` is `None` on a client.
    status: Option<StatusSource>,
    /// The part of the checksum's salt that makes packets of state valid only for this session and this
    /// client (R25, R26).
    pub(crate) binding: u64,
    /// The seed that was computed for the checksum of the last packet.
    seed: LastSeed,
    /// The packets that were declared lost most recently, each with the time when it was sent and its bytes.
    given_up: VecDeque<(Sequence, Duration, usize)>,
    /// Whether the limits have refused something.
    has_refused: bool,
    /// The limit on the number of packets that may be sent in a second. `packet_limit` is `None` on a server,
    /// which has no limit of this kind. In a box, because a server has many outboxes.
    pub(crate) packet_limit: Option<Box<RateLimit>>,
    /// The number of entries about single objects that were written so far. It may wrap.
    entries: u32,
    /// Whether `packet_limit` allows no more packets now.
    is_limited_by_packets: bool,
    /// The limit that the user has set on the bytes in a second. In a box, because few connections have one.
    budget: Option<Box<ByteBudget>>,
    /// The congestion control. `congestion` is `None` if the user's transport has its own congestion control.
    /// In a box, so that the outbox of such a connection takes fewer lines of the cache.
    pub(crate) congestion: Option<Box<Congestion>>,
}

/// The limits of an outbox.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    pub(crate) mtu_bytes: usize,
    pub(crate) packets_in_flight: usize,
    pub(crate) bytes_in_flight: usize,
    pub(crate) bytes_per_pass: usize,
    /// The greatest number of bytes of memory that the connection may take.
    pub(crate) memory_bytes: usize,
}

impl Outbox {
    pub(crate) fn new(first: Sequence, limits: Limits) -> Self {
        Self { in_flight: InFlight::new(first), next: first, limits, ..Self::default() }
    }

    /// Preloads the lists that the next packet changes.
    pub(crate) fn preload_lists(&self) {
        self.in_flight.preload_lists();
        self.queue.waiting.preload_lists();
        self.congestion.iter().for_each(|congestion| preload_all(&**congestion));
    }

    /// Preloads the buffers of the next packet. Call it some time after
    /// [`preload_lists`](Self::preload_lists).
    pub(crate) fn preload_next(&self) {
        self.in_flight.preload_next();
        self.queue.waiting.preload_next();
    }

    /// Preloads what a packet with acks reads and writes. Call [`preload_ack`](Self::preload_ack) some time
    /// afterwards.
    #[inline]
    pub(crate) fn preload_packet(&self) {
        preload(&self.next);
        preload(&self.given_up);
        preload(&self.queue.allowance);
        preload_all(&self.in_flight);
        preload_all(&self.send_times);
    }

    /// Preloads the lists that the next ack reads.
    pub(crate) fn preload_ack(&self) {
        self.in_flight.preload_ends();
        self.send_times.preload();
    }

    /// Returns the greatest number of bits of a packet.
    fn max_bits(&self) -> usize {
        self.limits.mtu_bytes * 8
    }

    /// Returns the number of the packet that is being filled, or of the next packet if none is being filled.
    pub(crate) fn sequence(&self) -> Sequence {
        self.next
    }

    /// Returns the number of the first packet of this tick, which is the stamp of all packets of the tick.
    pub(crate) fn stamp(&self) -> Sequence {
        self.next.minus(self.pass_packets)
    }

    /// Exchanges the draft with another one. A server has one draft for all its connections, which stays in
    /// the fastest cache.
    pub(crate) fn swap_draft(&mut self, draft: &mut Box<Draft>) {
        debug_assert!(self.record.is_none(), "no packet is being filled");
        std::mem::swap(&mut self.draft, draft);
    }

    /// Begins the packets of a tick. From now on, all packets have the stamp of this tick.
    pub(crate) fn begin_pass(&mut self) {
        debug_assert!(self.record.is_none(), "a pass ends with a flush");
        self.pass_packets = 0;
        self.pass_bytes = 0;
    }

    /// Sets the status that a server sends in the packets of this tick.
    pub(crate) fn set_status(
        &mut self,
        tick: u64,
        newest_acked: Option<Sequence>,
        connection: ConnectionStatus,
    ) {
        if let Some(status) = &mut self.status {
            status.begin_pass(tick, self.next, newest_acked, connection);
        }
    }

    /// Completes the last packet of a tick.
    pub(crate) fn end_pass(&mut self, now: Duration) {
        self.flush(now);
        if let Some(congestion) = &mut self.congestion {
            congestion.end_pass(now, !congestion.has_room());
        }
    }

    /// Frees the spare buffers, which are kept for reuse.
    pub(crate) fn free_spare(&mut self) {
        self.in_flight.free_spare();
        self.queue.waiting.free_spare();
    }

    /// Returns how many bytes were written in this tick.
    pub(crate) fn written_bytes(&self) -> usize {
        self.pass_bytes + self.filling_bits() / 8
    }

    /// Returns a number of bits that grows with each bit that is written in this tick.
    pub(crate) fn written_bits(&self) -> usize {
        self.pass_bytes * 8 + self.filling_bits()
    }

    /// Returns how many bits the packet that is being filled has.
    fn filling_bits(&self) -> usize {
        self.record.as_ref().map_or(0, |_| self.draft.writer.bit_len() + self.draft.messages.bit_len())
    }

    /// Returns a number that changes with each entry about a single object that is written.
    pub(crate) fn entries(&self) -> u32 {
        self.entries
    }

    /// Begins a packet if none is being filled, and returns the record of the packet.
    fn open_packet(&mut self) -> &mut Record {
        if self.record.is_none() {
            packet::begin(PacketKind::State, &mut self.draft.writer);
            let is_urgent = self.status.as_ref().is_some_and(StatusSource::is_urgent);
            let has_floor = is_urgent || self.next.number().is_multiple_of(FLOOR_INTERVAL);
            let header = self.header(self.stamp(), has_floor);
            self.has_acked_all = header.write(&self.draft.received, MAX_ACK_BITS, &mut self.draft.writer);
        }
        let in_flight = &mut self.in_flight;
        self.record.get_or_insert_with(|| in_flight.blank())
    }

    /// Returns the header of the next packet.
    fn header(&mut self, stamp: Sequence, has_floor: bool) -> Header {
        let sequence = self.next;
        let floor = has_floor.then(|| self.in_flight.floor());
        let status = self.status.as_mut().map(|status| status.next(sequence, stamp, has_floor));
        Header { sequence, stamp, floor, status }
    }

    /// Makes all packets of state contain the server's status from now on.
    pub(crate) fn enable_status(&mut self) {
        self.status.get_or_insert_default();
    }

    /// Returns whether the client has joined (has all initial objects) and no packet has reported this to the
    /// client yet.
    pub(crate) fn has_unsent_news(&self) -> bool {
        self.status.as_ref().is_some_and(StatusSource::is_join_unsent)
    }

    /// Returns whether both of these are true: the client may not know that it has joined, and no ack that
    /// may still arrive would show that the client knows it.
    pub(crate) fn is_unsure_of_join(&self) -> bool {
        self.in_flight.unresolved() == 0 && self.status.as_ref().is_some_and(StatusSource::is_urgent)
    }

    /// Returns whether all acks that are due were sent in the packets of this tick.
    pub(crate) fn has_acked_all(&self) -> bool {
        self.has_acked_all && !self.is_pass_empty()
    }

    /// Returns whether nothing was sent in this tick.
    pub(crate) fn is_pass_empty(&self) -> bool {
        self.record.is_none() && self.pass_packets == 0
    }

    /// Sets the received packets that the packets of this tick ack. `None` if no acks are due.
    pub(crate) fn set_received(&mut self, received: Option<&Received>) {
        match received {
            Some(received) => self.draft.received.clone_from(received),
            // In most ticks no acks are due, and the record is large.
            None if self.draft.received.newest().is_none() => {}
            None => self.draft.received = Received::default(),
        }
    }

    /// Records that a packet was acked. Returns `false` if the packet was already acked or declared lost.
    pub(crate) fn arrived(&mut self, sequence: Sequence) -> bool {
        let bytes = self.in_flight.resolve(sequence, Delivery::Arrived);
        if let (Some(bytes), Some(congestion)) = (bytes, &mut self.congestion) {
            congestion.arrived(sequence, bytes);
        }
        bytes.is_some()
    }

    /// Ends the handling of the acks in a packet. `newest` is the newest packet that was acked. Returns the
    /// time since `newest` was sent, if the time is known.
    pub(crate) fn acked(&mut self, newest: Sequence, now: Duration) -> Option<Duration> {
        if let Some(congestion) = &mut self.congestion {
            congestion.acked(newest, now);
        }
        self.in_flight.trim();
        self.send_times.take(newest, now)
    }

    /// Declares a packet lost. Returns `false` if the packet was already acked or declared lost.
    pub(crate) fn lost(&mut self, sequence: Sequence) -> bool {
        let sent_at = self.in_flight.sent_at(sequence);
        let Some(bytes) = self.in_flight.resolve(sequence, Delivery::Lost) else { return false };
        if let Some(congestion) = &mut self.congestion {
            congestion.lost(sequence, bytes);
        }
        if self.given_up.len() >= MAX_GIVEN_UP {
            self.given_up.pop_front();
        }
        self.given_up.push_back((sequence, sent_at.unwrap_or_default(), bytes));
        true
    }

    /// Handles late acks: acks of packets that were declared lost. Returns how long the slowest of them took,
    /// or `None` if `range` contains no such packet. Also returns `None` if most packets are lost: then a
    /// late ack only means that the acks before it were lost. Losses are recorded in ascending order, so this
    /// takes O(log records) if no packet of `range` is recorded.
    pub(crate) fn arrived_late(&mut self, range: AckRange, now: Duration) -> Option<Duration> {
        let start = self.given_up.partition_point(|(sequence, ..)| *sequence < range.first);
        let end = self.given_up.partition_point(|(sequence, ..)| *sequence <= range.last);
        let mut slowest = None;
        for (_, sent_at, bytes) in self.given_up.drain(start..end.max(start)) {
            slowest = slowest.max(Some(now.saturating_sub(sent_at)));
            if let Some(congestion) = &mut self.congestion {
                congestion.arrived_late(bytes);
            }
        }
        slowest.filter(|_| !self.congestion.as_ref().is_some_and(|congestion| congestion.loses_most()))
    }

    /// Completes the packet that is being filled, if there is one.
    pub(crate) fn flush(&mut self, now: Duration) {
        if let Some(record) = self.record.take() {
            self.finish(record, now);
        }
    }

    /// Queues a packet without state. A packet without state contains as many acks as fit. A packet without
    /// acks is a keep-alive (R8).
    pub(crate) fn signal(&mut self, received: &Received, now: Duration) {
        self.flush(now);
        packet::begin(PacketKind::State, &mut self.draft.writer);
        let header = self.header(self.next, true);
        header.write(received, self.max_bits() - FRAME_BITS, &mut self.draft.writer);
        let record = self.in_flight.blank();
        self.finish(record, now);
    }

    fn finish(&mut self, mut record: Box<Record>, now: Duration) {
        self.draft.end_segment();
        self.draft.writer.write_bits(0, 1);
        self.draft.messages.end_packet(&mut self.draft.writer);
        let bytes = self.draft.writer.finish().len();
        debug_assert!(bytes <= self.limits.mtu_bytes, "a packet of {bytes} bytes");
        (record.sent_at, record.bytes) = (now, bytes);
        if record.elicits_ack() {
            self.send_times.record(self.next, now);
            if let Some(congestion) = &mut self.congestion {
                congestion.sent(self.next, bytes, now);
            }
        }
        if let Some(limit) = &mut self.packet_limit {
            limit.take(now);
            self.is_limited_by_packets = !limit.allows(now);
        }
        self.in_flight.push(record);
        // If the allowance of the address is too small for this packet, the packet is dropped and counts as
        // lost. If a packet were kept and sent later, its status might no longer be true.
        if self.queue.takes_state(bytes) {
            self.pass_bytes += bytes;
            self.budget.iter_mut().for_each(|budget| budget.spend(bytes));
            let seed = self.seed.of(Salt::state(self.binding, self.next));
            let writer = &mut self.draft.writer;
            self.queue.push_with(bytes, |into| packet::seal_into(writer, seed, into));
        }
        self.next = self.next.next();
        self.pass_packets += 1;
    }

    /// Frees memory that was not needed recently.
    pub(crate) fn end_round(&mut self) {
        self.queue.waiting.end_round();
        self.send_times.end_round();
        if let Some(congestion) = &mut self.congestion {
            congestion.end_round();
        }
        self.in_flight.end_round();
        if self.in_flight.len() == 0 {
            // Nothing is in flight, so late acks no longer matter.
            self.given_up = VecDeque::new();
        }
    }
}
