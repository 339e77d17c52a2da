//! The outbox of a connection fills packets, numbers them, records the content of each packet, and puts the
//! packets into the send queue.
//!
//! *Invariant:* each packet of state in the queue has its own number and one record of its content. All
//! packets of a tick have the same stamp, which is the number of the first packet of the tick (R1). In names,
//! a *pass* is all packets that are sent to the peer in one tick.

mod draft;
mod limits;
mod writing;

use std::time::Duration;

use repl_core::__private::{preload, preload_all};

use crate::frame::acks::{AckRange, Received};
use crate::frame::header::{Extension, Header};
use crate::frame::packet::{self, LastSeed, PacketKind, Salt};
use crate::frame::sequence::Sequence;
use crate::packet_size::allowed::AllowedSize;
use crate::packet_size::losses::LossesInRow;
use crate::queue::send_queue::SendQueue;
use crate::rate::byte_budget::ByteBudget;
use crate::rate::rate_control::RateControl;
use crate::rate::rate_limit::RateLimit;
use crate::rate::rtt::SendTimes;
use crate::sent::in_flight::{Delivery, InFlight, SentPacket};
use crate::sent::late::LateLog;
use crate::sent::payload::{BodyWriter, Payload};
pub use draft::Draft;
pub use writing::Body;

/// The room that is reserved in a packet for the beginning and the end of a segment of its body, in bits. A
/// body is a list of segments: a bit that is 1 comes before each segment, and a zero bit ends the list.
pub const SEGMENT_BITS: usize = 1 + 2 + 4 + 1;

/// The greatest number of bits that the frame of a packet occupies. The frame consists of the checksum, the
/// kind, the number, the offset to the stamp, the floor, the extension, the acks, and the end of the body.
pub const fn frame_bits<P: Payload>() -> usize {
    32 + 1 + 16 + 24 + 24 + P::Extension::BITS + MAX_ACK_BITS + 1
}

/// The greatest number of bits that acks take in a packet with state.
const MAX_ACK_BITS: usize = 79;

/// One packet in this many contains the floor: the oldest packet for which the sender does not know whether
/// it has arrived.
const FLOOR_INTERVAL: u64 = 32;

/// How many packets that count as lost are remembered for late acks.
const MAX_GIVEN_UP: usize = 128;

/// Fills, numbers and queues the packets of a connection.
#[derive(Debug)]
pub struct Outbox<P: Payload> {
    /// The packets that were sent and may still arrive.
    pub in_flight: InFlight<P::Record>,
    pub(crate) send_times: SendTimes,
    next: Sequence,
    /// The number of packets that were completed in this tick.
    pass_packets: u64,
    /// The packet that is being filled. In a box, so that the connections of a server can exchange one draft
    /// by swapping pointers.
    draft: Box<Draft<P>>,
    /// The record of the packet that is being filled. `None` if no packet is being filled.
    record: Option<Box<SentPacket<P::Record>>>,
    /// The complete packets with state, and the control packets between them.
    pub queue: SendQueue,
    /// The number of bytes of memory that the connection occupies outside the outbox. This memory is measured
    /// in each tick, before and after the packets are sent.
    pub other_bytes: usize,
    /// The number of bytes in the packets that were completed in this tick.
    pass_bytes: usize,
    /// The greatest size of a packet in bytes, computed from `size`.
    mtu_bytes: usize,
    /// The values that decide the greatest size of a packet.
    size: AllowedSize,
    /// The packets that were lost while no packet of their size arrived.
    pub(crate) losses: LossesInRow,
    limits: Limits,
    /// Whether all acks that are due fitted into the packets of this tick.
    has_acked_all: bool,
    /// The data that this side adds to its headers. `None` if it adds nothing.
    pub extension: Option<P::Extension>,
    /// A number that the checksums of packets of state include, so that these packets are valid only for this
    /// session and this client.
    pub binding: u64,
    /// The seed that was computed for the checksum of the last packet.
    seed: LastSeed,
    /// Whether the transport encrypts and authenticates the packets, so that packets of state need no
    /// checksum.
    pub(crate) is_sealed: bool,
    /// The packets that were declared lost most recently, each with the time when it was sent and its size in
    /// bytes.
    given_up: LateLog<(Duration, usize), MAX_GIVEN_UP>,
    /// Whether the limits have prevented something from being sent.
    has_refused: bool,
    /// The room that remained for bulk messages in this tick. `None` before bulk messages are sent.
    rest: Option<Rest>,
    /// Whether the congestion control had no room for more state or messages in the last tick.
    was_short: bool,
    /// The limit on the number of packets that may be sent in a second. `packet_limit` is `None` on a server,
    /// which has no limit of this kind. In a box, because a server has many outboxes.
    pub packet_limit: Option<Box<RateLimit>>,
    /// Whether `packet_limit` allows no more packets now.
    is_limited_by_packets: bool,
    /// The limit that the user has set on the bytes in a second. In a box, because few connections have one.
    budget: Option<Box<ByteBudget>>,
    /// The congestion control. `congestion` is `None` if the user's transport has its own congestion control.
    /// In a box, so that the outbox of such a connection occupies fewer cache lines.
    pub congestion: Option<Box<P::Rate>>,
}

/// The room for bulk messages (of more than 64 KiB) that state and other messages have not used in a tick.
#[derive(Clone, Copy, Debug)]
struct Rest {
    /// Whether the congestion control had no room for another packet before bulk messages were sent.
    is_short: bool,
    /// Whether the congestion control has stopped bulk messages.
    has_refused: bool,
}

/// The limits of an outbox.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// The greatest number of packets that are not acknowledged.
    pub packets_in_flight: usize,
    /// The greatest number of bytes of packets that are not acknowledged.
    pub bytes_in_flight: usize,
    /// The greatest number of bytes in a tick. `usize::MAX` stands for no limit.
    pub bytes_per_pass: usize,
    /// The greatest number of bytes of memory that the connection may occupy.
    pub memory_bytes: usize,
}

impl<P: Payload> Outbox<P> {
    pub(crate) fn new(first: Sequence, mtu_bytes: usize, limits: Limits) -> Self {
        Self {
            in_flight: InFlight::new(first),
            send_times: SendTimes::default(),
            next: first,
            pass_packets: 0,
            draft: Box::default(),
            record: None,
            queue: SendQueue::default(),
            other_bytes: 0,
            pass_bytes: 0,
            mtu_bytes,
            size: AllowedSize::new(mtu_bytes),
            losses: LossesInRow::default(),
            limits,
            has_acked_all: false,
            extension: None,
            binding: 0,
            seed: LastSeed::default(),
            is_sealed: false,
            given_up: LateLog::default(),
            has_refused: false,
            rest: None,
            was_short: false,
            packet_limit: None,
            is_limited_by_packets: false,
            budget: None,
            congestion: None,
        }
    }

    /// Loads into the processor cache the lists that the next packet changes.
    pub fn preload_lists(&self) {
        self.in_flight.preload_lists();
        self.queue.waiting.preload_lists();
        self.congestion.iter().for_each(|congestion| preload_all(&**congestion));
    }

    /// Loads into the processor cache the buffers of the next packet. Call it some time after
    /// [`preload_lists`](Self::preload_lists), because it reads the lists.
    pub fn preload_next(&self) {
        self.in_flight.preload_next();
        self.queue.waiting.preload_next();
    }

    /// Loads into the cache the memory that is read and written when a packet with acks is read. Call
    /// [`preload_ack`](Self::preload_ack) some time afterwards.
    #[inline]
    pub fn preload_packet(&self) {
        preload(&self.next);
        preload(&self.given_up);
        preload(&self.queue.allowance);
        preload_all(&self.in_flight);
        preload_all(&self.send_times);
    }

    /// Loads into the processor cache the lists that the next ack reads.
    pub fn preload_ack(&self) {
        self.in_flight.preload_ends();
        self.send_times.preload();
    }

    /// Returns the greatest size of a packet now, in bytes.
    pub fn packet_bytes(&self) -> usize {
        self.mtu_bytes
    }

    pub(crate) fn size(&self) -> &AllowedSize {
        &self.size
    }

    /// Changes the values that decide the greatest size of a packet. Must not be called while a packet is
    /// being filled. Returns whether the size has changed.
    pub(crate) fn set_size(&mut self, size: AllowedSize) -> bool {
        debug_assert!(self.record.is_none(), "no packet is being filled");
        let has_changed = size.bytes() != self.mtu_bytes;
        (self.size, self.mtu_bytes) = (size, size.bytes());
        if has_changed {
            self.losses = LossesInRow::default();
            self.congestion.iter_mut().for_each(|congestion| congestion.set_packet_bytes(size.bytes()));
        }
        has_changed
    }

    /// Queues a control packet, and counts its bytes as sent.
    pub(crate) fn push_control(&mut self, packet: &[u8]) {
        self.budget.iter_mut().for_each(|budget| budget.spend(packet.len()));
        self.queue.push(packet);
    }

    /// Returns the greatest number of bits of a packet.
    pub fn max_bits(&self) -> usize {
        self.mtu_bytes * 8
    }

    /// Returns the number of the packet that is being filled, or of the next packet if none is being filled.
    pub fn sequence(&self) -> Sequence {
        self.next
    }

    /// Returns the number of the first packet of this tick, which is the stamp of all packets of the tick.
    pub fn stamp(&self) -> Sequence {
        self.next.minus(self.pass_packets)
    }

    /// Exchanges the draft with `draft`. A server has one draft for all its connections, so that it stays in
    /// the fastest processor cache.
    pub fn swap_draft(&mut self, draft: &mut Box<Draft<P>>) {
        debug_assert!(self.record.is_none(), "no packet is being filled");
        std::mem::swap(&mut self.draft, draft);
    }

    /// Begins the packets of a tick. From now on, all packets have the stamp of this tick.
    pub fn begin_pass(&mut self) {
        debug_assert!(self.record.is_none(), "a pass ends with a flush");
        self.pass_packets = 0;
        self.pass_bytes = 0;
    }

    /// Completes the last packet of a tick.
    pub fn end_pass(&mut self, now: Duration) {
        self.flush(now);
        let is_short = self.is_short();
        let rest = self.rest.take();
        self.was_short = rest.map_or(is_short, |rest| rest.is_short);
        if let Some(congestion) = &mut self.congestion {
            congestion.end_pass(now, is_short || rest.is_some_and(|rest| rest.has_refused));
        }
    }

    /// Returns whether the congestion control has no room for another packet.
    fn is_short(&self) -> bool {
        let filling = self.filling_bits().div_ceil(8);
        self.congestion
            .as_ref()
            .is_some_and(|congestion| congestion.room_bytes().saturating_sub(filling) < self.mtu_bytes)
    }

    /// Frees the spare buffers, which are kept for reuse.
    pub fn free_spare(&mut self) {
        self.in_flight.free_spare();
        self.queue.waiting.free_spare();
    }

    /// Returns how many bytes were written in this tick.
    pub fn written_bytes(&self) -> usize {
        self.pass_bytes + self.filling_bits() / 8
    }

    /// Returns how many bits were written in this tick. Padding at the end of packets counts.
    pub fn written_bits(&self) -> usize {
        self.pass_bytes * 8 + self.filling_bits()
    }

    fn filling_bits(&self) -> usize {
        self.record.as_ref().map_or(0, |_| self.draft.writer.bit_len() + self.draft.messages.bit_len())
    }

    /// Returns the writer of the body of the packet that was begun last.
    pub fn body_writer(&self) -> &P::Writer {
        &self.draft.body
    }

    /// Returns the record of the body of the packet that is being filled, if there is one.
    pub fn record(&self) -> Option<&P::Record> {
        self.record.as_ref().map(|record| &record.body)
    }

    fn begin_packet(&mut self) {
        if self.record.is_none() {
            packet::begin(PacketKind::State, &mut self.draft.writer);
            let is_urgent = self.extension.as_ref().is_some_and(P::Extension::is_urgent);
            let has_floor = is_urgent || self.next.number().is_multiple_of(FLOOR_INTERVAL);
            let header = self.header(self.stamp(), has_floor);
            let Draft { writer, received, .. } = &mut *self.draft;
            self.has_acked_all = header.write(self.extension.as_mut(), received, MAX_ACK_BITS, writer);
            self.record = Some(self.in_flight.blank());
        }
    }

    fn header(&self, stamp: Sequence, has_floor: bool) -> Header {
        let floor = has_floor.then(|| self.in_flight.floor());
        Header { sequence: self.next, stamp, floor }
    }

    /// Returns whether all acks that are due were sent in the packets of this tick.
    pub fn has_acked_all(&self) -> bool {
        self.has_acked_all && !self.is_pass_empty()
    }

    /// Returns whether nothing was sent in this tick.
    pub fn is_pass_empty(&self) -> bool {
        self.record.is_none() && self.pass_packets == 0
    }

    /// Sets the received packets that the packets of this tick ack. `None` if no acks are due.
    pub(crate) fn set_received(&mut self, received: Option<&Received>) {
        match received {
            Some(received) => self.draft.received.clone_from(received),
            // In most ticks no acks are due, so the large record is not written again.
            None if self.draft.received.newest().is_none() => {}
            None => self.draft.received = Received::default(),
        }
    }

    /// Records that a packet was acked. Returns `false` if the packet was already acked or declared lost.
    pub fn arrived(&mut self, sequence: Sequence) -> bool {
        let Some(bytes) = self.in_flight.resolve(sequence, Delivery::Arrived) else { return false };
        self.losses.arrived(bytes);
        if let Some(congestion) = &mut self.congestion {
            congestion.arrived(sequence.number(), bytes);
        }
        true
    }

    /// Ends the handling of the acks in a packet. `newest` is the newest packet that was acked. Returns the
    /// time since `newest` was sent, if the time is known.
    pub fn acked(&mut self, newest: Sequence, now: Duration) -> Option<Duration> {
        if let Some(congestion) = &mut self.congestion {
            congestion.acked(newest.number(), now);
        }
        self.in_flight.trim();
        self.send_times.take(newest, now)
    }

    /// Declares a packet lost. Returns `false` if the packet was already acked or declared lost.
    pub fn lost(&mut self, sequence: Sequence) -> bool {
        let sent_at = self.in_flight.get(sequence).map(|record| record.sent_at);
        let Some(bytes) = self.in_flight.resolve(sequence, Delivery::Lost) else { return false };
        self.losses.lost(bytes);
        if let Some(congestion) = &mut self.congestion {
            congestion.lost(sequence.number(), bytes);
        }
        self.given_up.add(sequence, (sent_at.unwrap_or_default(), bytes));
        true
    }

    /// Handles late acks: acks of packets that were declared lost. Returns how long the slowest of them took,
    /// or `None` if `range` contains no such packet. Also returns `None` if most packets are lost: then an
    /// ack is late only because earlier acks were lost. Lost packets are recorded in ascending order, so the
    /// cost is O(log records) if no packet of `range` is recorded.
    pub fn arrived_late(&mut self, range: AckRange, now: Duration) -> Option<Duration> {
        let mut slowest = None;
        for (_, (sent_at, bytes)) in self.given_up.take(range) {
            slowest = slowest.max(Some(now.saturating_sub(sent_at)));
            self.losses.arrived(bytes);
            if let Some(congestion) = &mut self.congestion {
                congestion.arrived_late(bytes);
            }
        }
        slowest.filter(|_| !self.congestion.as_ref().is_some_and(|congestion| congestion.loses_most()))
    }

    /// Completes the packet that is being filled, if there is one.
    pub fn flush(&mut self, now: Duration) {
        if let Some(record) = self.record.take() {
            self.finish(record, now);
        }
    }

    /// Queues a packet without state. A packet without state contains as many acks as fit. A packet without
    /// acks is a keep-alive (R8).
    pub(crate) fn signal(&mut self, received: &Received, now: Duration) {
        self.flush(now);
        packet::begin(PacketKind::State, &mut self.draft.writer);
        let (header, max_ack_bits) = (self.header(self.next, true), self.max_bits() - frame_bits::<P>());
        header.write(self.extension.as_mut(), received, max_ack_bits, &mut self.draft.writer);
        let record = self.in_flight.blank();
        self.finish(record, now);
    }

    fn finish(&mut self, mut record: Box<SentPacket<P::Record>>, now: Duration) {
        self.draft.body.end(&mut self.draft.writer);
        self.draft.writer.write_bits(0, 1);
        self.draft.messages.end_packet(&mut self.draft.writer);
        let bytes = self.draft.writer.finish().len();
        debug_assert!(bytes <= self.mtu_bytes, "a packet of {bytes} bytes");
        (record.sent_at, record.bytes) = (now, bytes);
        if self.in_flight.push(record) {
            self.send_times.record(self.next, now);
            if let Some(congestion) = &mut self.congestion {
                congestion.sent(self.next.number(), bytes, now);
            }
        }
        if let Some(limit) = &mut self.packet_limit {
            limit.take(now);
            self.is_limited_by_packets = !limit.allows(now);
        }
        // If the allowance of the address is too small for this packet, the packet is dropped and counts as
        // lost. If the packet were kept and sent later, its acks could be outdated.
        if self.queue.takes_state(bytes) {
            self.pass_bytes += bytes;
            self.budget.iter_mut().for_each(|budget| budget.spend(bytes));
            let seed = (!self.is_sealed).then(|| self.seed.of(Salt::state(self.binding, self.next)));
            let writer = &mut self.draft.writer;
            self.queue.push_with(bytes, |into| packet::seal_into(writer, seed, into));
        }
        self.next = self.next.next();
        self.pass_packets += 1;
    }

    /// Frees memory that was not needed recently.
    pub fn end_round(&mut self) {
        self.queue.waiting.end_round();
        self.send_times.end_round();
        self.losses.end_round();
        if let Some(congestion) = &mut self.congestion {
            congestion.end_round();
        }
        self.in_flight.end_round();
        if self.in_flight.packets() == 0 {
            // Nothing is in flight, so no late ack has to be handled any more.
            self.given_up = LateLog::default();
        }
    }
}
