//! The outbox of a connection: it fills packets, numbers them, records the content of each, and puts them
//! into the send queue.
//!
//! *Invariant:* each queued packet has its own number and one record. All packets of a pass have the same
//! stamp (R1). A pass is everything that a server sends to a client in one tick.

use std::sync::Arc;
use std::time::Duration;

use repl_core::{BitSlice, BitWriter};

use super::acks::Received;
use super::congestion::Congestion;
use super::in_flight::{Delivery, InFlight, Record, Sent};
use super::message::{MESSAGE_HEAD_BITS, MessageWriter, NEXT_PART_BITS, PART_HEAD_BITS, SentMessage};
use super::packet::{self, Header, LastSeed, PacketKind, Salt};
use super::parts::Cut;
use super::rtt::SendTimes;
use super::segment::{RunHead, SEGMENT_BITS, Segment, SegmentKind, SegmentWriter};
use super::send_queue::SendQueue;
use super::sequence::{Sequence, WINDOW};
use super::slot_set::masks_between;
use super::status::{ConnectionStatus, STATUS_BITS, StatusSource};

/// The most bits that the frame of a packet takes: checksum, kind, number, offset to the stamp, floor,
/// status, acks, and the end of the body.
pub(crate) const FRAME_BITS: usize = 32 + 1 + 16 + 24 + 24 + STATUS_BITS + MAX_ACK_BITS + 1;

/// The most bits that acks take in a packet with state.
const MAX_ACK_BITS: usize = 79;

/// The most memory that the record of a packet takes for each byte of the packet. In rare cases a record
/// takes more: for an object of a few bytes with its list.
const RECORD_BYTES_PER_BYTE: usize = 48;

/// How many packets may be in flight when the memory of the connection is used up. The acks of these packets
/// free memory.
const PROBES: usize = 4;

/// One packet in this many contains the floor: the oldest packet for which the sender does not know whether
/// it has arrived.
const FLOOR_INTERVAL: u64 = 32;

/// Fills, numbers and queues the packets of a connection.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    pub(crate) in_flight: InFlight,
    pub(crate) send_times: SendTimes,
    next: Sequence,
    /// How many packets of this pass are complete.
    pass_packets: u64,
    writer: BitWriter,
    segment: SegmentWriter,
    /// The messages of the packet that is being filled.
    messages: MessageWriter,
    /// The record of the packet being filled.
    record: Option<Box<Record>>,
    /// The complete packets with state, and control packets between them.
    pub(crate) queue: SendQueue,
    /// How many bytes of memory the connection holds outside the outbox. The number is measured before and
    /// after each pass.
    pub(crate) other_bytes: usize,
    /// The number of bits of the largest packet.
    max_bits: usize,
    /// The number of bytes sent in this pass.
    pass_bytes: usize,
    limits: Limits,
    /// The packets that each packet of this pass acks. Empty if no acks are due.
    pub(crate) received: Received,
    /// Whether the acks of this pass fit into its packets.
    has_acked_all: bool,
    /// The status that a server sends. `None` on a client.
    status: Option<StatusSource>,
    /// The part of the salt that binds packets of state to this session and this client (R25, R26).
    pub(crate) binding: u64,
    /// The seed of the last packet's checksum.
    seed: LastSeed,
    /// The congestion control. `None` if the transport of the user has its own congestion control.
    pub(crate) congestion: Option<Congestion>,
}

/// The limits of an outbox.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    pub(crate) mtu_bytes: usize,
    pub(crate) packets_in_flight: usize,
    pub(crate) bytes_in_flight: usize,
    pub(crate) bytes_per_pass: usize,
    /// The most memory that the connection may hold, in bytes.
    pub(crate) memory_bytes: usize,
}

impl Outbox {
    pub(crate) fn new(first: Sequence, limits: Limits) -> Self {
        Self {
            in_flight: InFlight::new(first),
            next: first,
            max_bits: limits.mtu_bytes * 8,
            limits,
            ..Self::default()
        }
    }

    /// Returns the number of the next packet.
    pub(crate) fn next(&self) -> Sequence {
        self.next
    }

    /// Returns the number of the packet that is being filled, or of the next one.
    pub(crate) fn sequence(&self) -> Sequence {
        self.next
    }

    /// Returns the number of the first packet of this pass.
    pub(crate) fn stamp(&self) -> Sequence {
        self.next.minus(self.pass_packets)
    }

    /// Begins a pass: all packets of the pass have the same stamp.
    pub(crate) fn begin_pass(&mut self) {
        debug_assert!(self.record.is_none(), "a pass ends with a flush");
        self.pass_packets = 0;
        self.pass_bytes = 0;
    }

    /// Sets the status that a server sends in the packets of this pass.
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

    /// Updates the send rate for this pass. `timeouts` is the number of timeouts in a row without an ack.
    pub(crate) fn pace(&mut self, now: Duration, timeouts: u32) {
        if let Some(congestion) = &mut self.congestion {
            congestion.begin_pass(now, timeouts);
        }
    }

    /// Completes the last packet of a pass.
    pub(crate) fn end_pass(&mut self, now: Duration) {
        self.flush(now);
        if let Some(congestion) = &mut self.congestion {
            congestion.end_pass(now, !congestion.has_room());
        }
    }

    /// Returns whether nothing more may be sent in this pass (R6). If not, [`make_room`](Self::make_room)
    /// returns whether a certain update fits.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.record.is_none() && !self.may_begin_packet()
    }

    /// Returns whether the limits allow another packet. If nothing is in flight, the limits on packets, bytes
    /// and memory in flight always allow one: a limit smaller than a packet must not stop all sending.
    fn may_begin_packet(&self) -> bool {
        debug_assert!(self.record.is_none(), "the packet being filled does not count yet");
        if self.pass_bytes >= self.limits.bytes_per_pass || !self.queue.takes_state(self.limits.mtu_bytes) {
            return false;
        }
        if !self.congestion.as_ref().is_none_or(Congestion::has_room) {
            return false;
        }
        let (packets, bytes) = (self.in_flight.len(), self.in_flight.bytes());
        packets == 0
            || packets < self.limits.packets_in_flight.min(WINDOW as usize)
                && bytes.saturating_add(self.limits.mtu_bytes) <= self.limits.bytes_in_flight
                && (packets < PROBES || self.has_memory())
    }

    /// Returns whether the memory limit has room for the record of one more packet.
    pub(crate) fn has_memory(&self) -> bool {
        let record_bytes = self.limits.mtu_bytes.saturating_mul(RECORD_BYTES_PER_BYTE);
        self.memory_bytes().saturating_add(record_bytes) <= self.limits.memory_bytes
    }

    /// Returns whether the connection holds more memory than it may.
    pub(crate) fn is_over_memory(&self) -> bool {
        self.memory_bytes() > self.limits.memory_bytes
    }

    /// Returns about how many bytes of memory the connection holds in total. O(1).
    pub(crate) fn memory_bytes(&self) -> usize {
        self.held_bytes().saturating_add(self.other_bytes)
    }

    /// Returns about how many bytes of memory packets, their records and spare buffers hold. O(1).
    fn held_bytes(&self) -> usize {
        self.in_flight.held_bytes() + self.queue.held_bytes()
    }

    /// Frees the spare buffers.
    pub(crate) fn give_back_spare(&mut self) {
        self.in_flight.give_back_spare();
        self.queue.give_back_spare();
    }

    /// Returns whether the link or the limits are so narrow that not everything can be sent at the same time.
    pub(crate) fn is_limited(&self) -> bool {
        self.limits.bytes_per_pass < usize::MAX
            || self.congestion.as_ref().is_some_and(Congestion::was_short)
            || self.in_flight.len() > WINDOW as usize / 2
    }

    /// Returns how many bits an empty packet has for updates.
    pub(crate) fn capacity(&self) -> usize {
        self.max_bits - FRAME_BITS - SEGMENT_BITS
    }

    fn room(&self) -> usize {
        match self.record {
            Some(_) => self.max_bits.saturating_sub(self.writer.bit_len() + self.messages.bit_len() + 2),
            None => self.max_bits - FRAME_BITS,
        }
    }

    /// Begins a packet if none is being filled.
    fn open_packet(&mut self) -> &mut Record {
        if self.record.is_none() {
            packet::begin(PacketKind::State, &mut self.writer);
            let is_urgent = self.status.as_ref().is_some_and(StatusSource::is_urgent);
            let has_floor = is_urgent || self.next.number().is_multiple_of(FLOOR_INTERVAL);
            let header = self.header(self.stamp(), has_floor);
            self.has_acked_all = header.write(&self.received, MAX_ACK_BITS, &mut self.writer);
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

    /// Returns whether the client has joined, and no packet has said so yet.
    pub(crate) fn has_unsent_news(&self) -> bool {
        self.status.as_ref().is_some_and(StatusSource::is_join_unsent)
    }

    /// Returns whether the client may not know that it has joined, and no packet is in flight whose ack would
    /// show that it knows.
    pub(crate) fn is_unsure_of_join(&self) -> bool {
        self.in_flight.unresolved() == 0 && self.status.as_ref().is_some_and(StatusSource::is_urgent)
    }

    /// Returns whether all acks that are due were sent in this pass.
    pub(crate) fn has_acked_all(&self) -> bool {
        self.has_acked_all && !self.is_pass_empty()
    }

    /// Returns whether nothing has been sent in this pass.
    pub(crate) fn is_pass_empty(&self) -> bool {
        self.record.is_none() && self.pass_packets == 0
    }

    /// Appends a whole shared segment that [fits](Self::make_room).
    pub(crate) fn segment(&mut self, segment: &Arc<Segment>) {
        self.open_packet().contents.shared.push(Arc::clone(segment));
        self.segment.end(&mut self.writer);
        self.writer.append(segment.bits());
    }

    /// Makes room for `bits` bits, which then go into the packet [`sequence`](Self::sequence). If the bits do
    /// not fit into the packet that is being filled, completes that packet. Returns `false` if the limits
    /// then allow no other packet.
    #[must_use]
    pub(crate) fn make_room(&mut self, bits: usize, now: Duration) -> bool {
        if self.record.is_some() {
            if self.room() >= bits + 2 * SEGMENT_BITS {
                return true;
            }
            self.flush(now);
        }
        self.may_begin_packet()
    }

    /// Writes an entry that [fits](Self::make_room), in a segment of its kind.
    pub(crate) fn entry(
        &mut self,
        kind: SegmentKind,
        gap_order: u32,
        sent: Sent,
        write: impl FnOnce(&mut SegmentWriter, &mut BitWriter),
    ) {
        let slot = sent.slot;
        self.open_packet().contents.sent.push(sent);
        self.write_entry(kind, gap_order, slot, write);
    }

    /// Writes the removal of an object, if it [fits](Self::make_room).
    pub(crate) fn close(
        &mut self,
        gap_order: u32,
        slot: u32,
        write: impl FnOnce(&mut SegmentWriter, &mut BitWriter),
    ) {
        self.open_packet().contents.close(slot);
        self.write_entry(SegmentKind::Close, gap_order, slot, write);
    }

    fn write_entry(
        &mut self,
        kind: SegmentKind,
        gap_order: u32,
        slot: u32,
        write: impl FnOnce(&mut SegmentWriter, &mut BitWriter),
    ) {
        if !self.segment.accepts(kind, slot) {
            self.segment.begin(kind, gap_order, &mut self.writer);
        }
        write(&mut self.segment, &mut self.writer);
    }

    /// Writes a message of one of `channels` channels, or a part of it, if it is cut. `content` is the content
    /// of the message or part. Returns the number of the packet, or `None` if the limits allow no packet.
    pub(crate) fn message(
        &mut self,
        message: SentMessage,
        channels: u16,
        cut: Cut,
        content: BitSlice<'_>,
        now: Duration,
    ) -> Option<Sequence> {
        let head_bits = match cut.parts() {
            1 => MESSAGE_HEAD_BITS,
            _ if self.messages.continues(message) => NEXT_PART_BITS,
            _ => PART_HEAD_BITS,
        };
        if !self.make_room(head_bits.saturating_add(content.len()), now) {
            return None;
        }
        self.open_packet().contents.messages.push(message);
        self.messages.write(message, channels, cut, content);
        Some(self.next)
    }

    /// Begins a run of openings from slot `first` on, with as many objects as fit into the packet. Returns
    /// the number of these objects, which is zero only if an empty packet is too small for one object.
    /// Returns `None` if the limits allow no other packet. The caller must then [append](Self::append) the
    /// values of each object in turn, which take `sizes` bits.
    pub(crate) fn run(
        &mut self,
        first: u32,
        run_head: &RunHead<'_>,
        sizes: impl Iterator<Item = usize>,
        now: Duration,
    ) -> Option<u32> {
        let mut sizes = sizes.peekable();
        let head_bits = run_head.bits(self.max_bits) + SEGMENT_BITS + 1;
        let first_bits = head_bits + sizes.peek().copied().unwrap_or(0);
        if first_bits > self.capacity() {
            return Some(0);
        }
        if !self.make_room(first_bits, now) {
            return None;
        }
        self.open_packet();
        let mut left = self.room().saturating_sub(head_bits);
        let fits = |bits: &usize| {
            let fits = *bits <= left;
            left = left.saturating_sub(*bits);
            fits
        };
        let count = sizes.take_while(fits).count() as u32;
        self.open_packet().contents.opened.extend(masks_between(first, first + count));
        if !self.segment.accepts(SegmentKind::Open, first) {
            self.segment.begin_openings(first, &mut self.writer);
        }
        self.segment.run(first, count, run_head, &mut self.writer);
        Some(count)
    }

    /// Appends values to the packet that is being filled.
    pub(crate) fn append(&mut self, values: BitSlice<'_>) {
        self.writer.append(values);
    }

    /// Notes that a packet has arrived. Returns whether this was unknown.
    pub(crate) fn arrived(&mut self, sequence: Sequence) -> bool {
        let bytes = self.in_flight.resolve(sequence, Delivery::Arrived);
        if let (Some(bytes), Some(congestion)) = (bytes, &mut self.congestion) {
            congestion.arrived(sequence, bytes);
        }
        bytes.is_some()
    }

    /// Ends the handling of acks, of which `newest` is the newest packet. Returns the time since this packet
    /// was sent, if the time is known.
    pub(crate) fn acked(&mut self, newest: Sequence, now: Duration) -> Option<Duration> {
        if let Some(congestion) = &mut self.congestion {
            congestion.acked(newest, now);
        }
        self.in_flight.trim();
        self.send_times.take(newest, now)
    }

    /// Notes that a packet counts as lost. Returns whether it could still have arrived.
    pub(crate) fn lost(&mut self, sequence: Sequence) -> bool {
        let bytes = self.in_flight.resolve(sequence, Delivery::Lost);
        if let (Some(bytes), Some(congestion)) = (bytes, &mut self.congestion) {
            congestion.lost(sequence, bytes);
        }
        bytes.is_some()
    }

    /// Completes the packet that is being filled, if there is one.
    pub(crate) fn flush(&mut self, now: Duration) {
        if let Some(record) = self.record.take() {
            self.finish(record, now);
        }
    }

    /// Sends a packet without state. The packet contains as many acks as fit. A packet without acks is a
    /// keep-alive (R8).
    pub(crate) fn signal(&mut self, received: &Received, now: Duration) {
        self.flush(now);
        packet::begin(PacketKind::State, &mut self.writer);
        let header = self.header(self.next, true);
        header.write(received, self.max_bits - FRAME_BITS, &mut self.writer);
        let record = self.in_flight.blank();
        self.finish(record, now);
    }

    fn finish(&mut self, mut record: Box<Record>, now: Duration) {
        self.segment.end(&mut self.writer);
        self.writer.write_bits(0, 1);
        self.messages.end_packet(&mut self.writer);
        let mut bytes = self.queue.blank();
        let seed = self.seed.of(Salt::state(self.binding, self.next));
        packet::seal_from(&mut self.writer, seed, &mut bytes);
        debug_assert!(bytes.len() <= self.limits.mtu_bytes, "a packet of {} bytes", bytes.len());
        (record.sent_at, record.bytes) = (now, bytes.len());
        if record.elicits_ack() {
            self.send_times.record(self.next, now);
            if let Some(congestion) = &mut self.congestion {
                congestion.sent(self.next, bytes.len(), now);
            }
        }
        self.in_flight.push(record);
        self.next = self.next.next();
        self.pass_packets += 1;
        if self.queue.takes_state(bytes.len()) {
            self.pass_bytes += bytes.len();
            self.queue.push(bytes);
        } else {
            // The packet counts as lost. If this packet were kept and sent later, the client could receive a
            // status that is no longer true.
            self.queue.discard(bytes);
        }
    }

    /// Frees memory that was not needed recently.
    pub(crate) fn end_round(&mut self) {
        self.queue.end_round();
        self.send_times.end_round();
        if let Some(congestion) = &mut self.congestion {
            congestion.end_round();
        }
        self.in_flight.end_round();
    }
}
