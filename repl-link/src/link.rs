//! One side of a connection: the packets that it has sent and received, and how well the other side answers.
//!
//! A link has no callbacks. Its methods return what happened to its packets: which bodies (the data that the
//! user of the link puts into packets) arrived, were lost, or arrived after they counted as lost.
//!
//! *Invariant:* each packet is reported as arrived or lost at most one time.

use std::time::Duration;
use std::vec;

use repl_core::__private::{preload, preload_all};
use repl_core::{BitReader, ReadError};

use crate::frame::acks::{AckRange, AckRanges, Arrival, Received};
use crate::frame::header::{Extension, Header};
use crate::frame::message::asks_for_ack;
use crate::frame::packet;
use crate::frame::sequence::Sequence;
use crate::messages::exchange::Exchange;
use crate::messages::recipient::MayReceive;
use crate::outbox::{Limits, Outbox};
use crate::packet_size::allowed::AllowedSize;
use crate::packet_size::probing::{PathFinding, Probing, Sizes};
use crate::rate::ack_pace::AckPace;
use crate::rate::health::LinkHealth;
use crate::rate::keep_alive;
use crate::rate::rate_limit::RateLimit;
use crate::sent::late::LateLog;
use crate::sent::payload::{Payload, Record};
use crate::session::control::Control;
use crate::session::disconnect::DisconnectReason;
use crate::spare::ROUND_TICKS;

/// The number of packets that a client may send in a second. After a pause, it may send the same number
/// without any delay between them.
pub(crate) const PACKETS_PER_SECOND: u32 = 2_000;

/// The greatest number of parts of bodies that are stored for late acks.
pub(crate) const MAX_LATE: usize = 512;

type LateOf<P> = <<P as Payload>::Record as Record>::Late;
type ExtensionOf<P> = <<P as Payload>::Extension as Extension>::Content;

/// One side of a connection.
#[derive(Debug)]
pub struct Link<P: Payload> {
    /// Fills packets, and stores a record of their content until they are acknowledged.
    pub outbox: Outbox<P>,
    /// The number of the first packet of the session, which is the same in each direction.
    first: Sequence,
    /// The packets of the other side that have arrived. Used to detect repeated and late packets, and to ack
    /// packets.
    received: Received,
    /// How well the other side answers: round trips, timeouts and losses.
    pub health: LinkHealth,
    /// Parts of the bodies of packets that count as lost. Late acks may still show that they have arrived.
    late: LateLog<LateOf<P>, MAX_LATE>,
    /// The messages in both directions.
    pub exchange: Exchange,
    /// The limit on the packets that the other side may send in a second, if it has one.
    packet_limit: Option<RateLimit>,
    /// Decides in which ticks acks are sent.
    ack_pace: AckPace,
    /// The probes that test which packet sizes the path carries. `None` while no test is needed.
    probing: Option<Box<Probing>>,
    ticks: u64,
}

/// The beginning of a new packet: its header and its acks.
#[derive(Debug)]
pub struct NewPacket<'b, P: Payload> {
    /// The header of the packet.
    pub header: Header,
    /// The data that the other side adds to its headers, if it has an extension.
    pub extension: Option<ExtensionOf<P>>,
    acks: AckRanges<'b>,
    /// Whether the packet has a body or messages. If so, its ack must be sent soon (R8).
    asks_for_ack: bool,
}

/// The acks of a packet while they are processed.
#[derive(Debug)]
pub struct Acks<'b, P: Payload> {
    ranges: AckRanges<'b>,
    /// The rest of the range that is processed now.
    range: Option<AckRange>,
    late: vec::IntoIter<(Sequence, LateOf<P>)>,
    newest: Option<Sequence>,
}

/// What an ack says about a packet of this side.
#[derive(Debug)]
pub enum Acked<'a, P: Payload> {
    /// The packet has arrived. Reported only for bodies whose record [waits for the ack](Record::is_awaited).
    Arrived(Sequence, &'a P::Record),
    /// The packet has arrived, although it already counted as lost.
    Late(Sequence, LateOf<P>),
}

/// The packets that are declared lost together.
#[derive(Debug)]
pub struct Losses {
    overdue: vec::IntoIter<Sequence>,
    has_timed_out: bool,
}

impl<P: Payload> Link<P> {
    /// Returns a link whose first packet has the number `first`, in both directions. Its packets have at most
    /// `mtu_bytes` bytes.
    #[must_use]
    pub fn new(first: Sequence, mtu_bytes: usize, limits: Limits, now: Duration) -> Self {
        Self {
            outbox: Outbox::new(first, mtu_bytes, limits),
            first,
            received: Received::default(),
            health: LinkHealth::new(now),
            late: LateLog::default(),
            exchange: Exchange::default(),
            packet_limit: None,
            ack_pace: AckPace::default(),
            probing: None,
            ticks: 0,
        }
    }

    /// Limits the packets that the other side may send in a second. After an outage of up to `timeout`, the
    /// delayed packets of the outage may arrive together without exceeding the limit.
    pub fn limit_packets(&mut self, timeout: Duration) {
        self.packet_limit = Some(RateLimit::receiving(PACKETS_PER_SECOND, 0, timeout));
    }

    /// Takes into account that the other side receives packets of at most `bytes` bytes. The session has not
    /// begun yet.
    pub fn agree_packet_bytes(&mut self, bytes: usize) {
        let mut size = *self.outbox.size();
        size.agree(bytes);
        self.outbox.set_size(size);
    }

    /// Sets the greatest size of the packets that this side sends, in bytes. The size is never greater than
    /// the largest packet that each of the two sides receives. It is less than 508 only if one side receives
    /// less. The results of earlier probes are forgotten. Costs O(messages) if packets become smaller.
    pub fn set_packet_bytes(&mut self, bytes: usize) {
        let mut size = *self.outbox.size();
        size.want(bytes);
        self.probing = None;
        self.set_size(size);
    }

    /// Forgets the results of earlier probes, because packets take another path from now on.
    pub fn forget_path(&mut self) {
        self.probing = None;
        let mut size = *self.outbox.size();
        size.set_carried(usize::MAX);
        self.set_size(size);
    }

    fn set_size(&mut self, size: AllowedSize) {
        if self.outbox.set_size(size) {
            self.exchange.outgoing.fit(self.outbox.capacity(), &mut self.outbox.in_flight);
        }
    }

    /// If large packets were lost, sends probes to find out whether the path carries packets of the greatest
    /// size. The checksums of probes include `key`, which belongs to the session. Returns the result. If the
    /// path carries less, packets are smaller from now on.
    pub fn probe(&mut self, key: u64, now: Duration) -> Option<PathFinding> {
        if self.probing.is_none() && !self.outbox.losses.are_doubtful() {
            return None;
        }
        let (mut probing, round_trip) =
            (self.probing.take().unwrap_or_default(), self.health.round_trip.smoothed());
        let (mut size, are_used) = (*self.outbox.size(), self.outbox.in_flight.unresolved() > 0);
        let sizes = Sizes { now: size.bytes(), full: size.of_any_path(), least: size.least(), are_used };
        let finding = probing.advance(&mut self.outbox.losses, sizes, round_trip, now);
        for probe in probing.due(key, round_trip, now) {
            self.outbox.push_control(&Control::Probe(probe.number).to_padded_packet(key, probe.bytes));
        }
        self.probing = Some(probing).filter(|probing| !probing.is_over(now));
        if let Some(PathFinding::Carries(bytes)) = finding {
            size.set_carried(bytes);
            self.set_size(size);
        }
        finding
    }

    /// Handles the answer of the other side to the probe with this number.
    pub fn probe_answered(&mut self, number: u16, now: Duration) {
        self.probing.iter_mut().for_each(|probing| probing.answered(number, now));
    }

    /// Returns whether probes are testing a packet size now. Then [`probe`](Self::probe) must be called in
    /// each tick.
    #[must_use]
    pub fn is_probing(&self) -> bool {
        self.probing.as_ref().is_some_and(|probing| probing.is_testing())
    }

    /// Returns the last `count` packets that were queued and not yet polled, the oldest first, without
    /// control packets. Each packet is returned as its number and a reader of its body. For tests and tools
    /// that inspect what this side has written. Costs O(packets).
    #[must_use]
    pub fn written(&self, count: usize) -> Vec<(Sequence, BitReader<'_>)> {
        let (newest, is_extended) = (self.outbox.sequence(), self.outbox.extension.is_some());
        let mut packets: Vec<_> = self.outbox.queue.waiting.newest_first().take(count).collect();
        packets.reverse();
        let bodies = packets.into_iter().filter_map(|bytes| {
            let mut reader = packet::content_of_state(bytes)?;
            let sequence = Sequence::from_wire(reader.read_bits(16).ok()? as u16, newest);
            let next = self.received_end();
            Header::read::<P::Extension>(&mut reader, sequence, next, is_extended).ok()?;
            Some((sequence, reader))
        });
        bodies.collect()
    }

    /// Loads into the processor cache the memory that is read and written when a packet with acks is read.
    /// Does not follow pointers to the heap.
    #[inline]
    pub fn preload_packet(&self) {
        preload(&self.first);
        preload_all(&self.received);
        preload_all(&self.health);
        preload_all(&self.exchange);
        preload_all(&self.packet_limit);
        preload_all(&self.ack_pace);
        self.outbox.preload_packet();
    }

    /// Loads into the processor cache the memory that [`begin_losses`](Self::begin_losses) reads if no packet
    /// is in flight.
    pub fn preload_losses(&self) {
        preload_all(&self.outbox.in_flight);
        preload_all(&self.health);
    }

    /// Loads into the processor cache the memory that a tick with packets to send reads. Does not follow
    /// pointers.
    pub fn preload_pass(&self) {
        preload_all(&self.outbox);
        preload_all(&self.health);
        preload_all(&self.exchange);
        preload(&self.late);
        preload(&self.ack_pace);
    }

    /// Returns the newest packet of the other side. The 16-bit numbers of packets are read relative to it.
    #[must_use]
    pub fn newest_received(&self) -> Sequence {
        self.received.newest().unwrap_or(self.first)
    }

    /// Returns the number after the number of the newest packet of the other side.
    #[must_use]
    pub fn received_end(&self) -> Sequence {
        self.received.newest().map_or(self.first, Sequence::next)
    }

    /// Begins to read the packet `sequence`. The caller has already read its number. Returns `None` if the
    /// packet must have no effect, because it is too old or was received before. `is_extended` says whether
    /// the other side adds an extension to its headers.
    ///
    /// # Errors
    /// Returns an error if the session must end, because the packet is malformed, or because there are too
    /// many packets.
    #[cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]
    pub fn open<'b>(
        &mut self,
        sequence: Sequence,
        reader: &mut BitReader<'b>,
        is_extended: bool,
        now: Duration,
    ) -> Result<Option<NewPacket<'b, P>>, DisconnectReason> {
        // A packet that is too old must have no effect, so its age is checked before its acks are read.
        let arrival = self.received.check(sequence);
        if arrival == Arrival::TooOld {
            return Ok(None);
        }
        let is_new = arrival == Arrival::New;
        if is_new && self.packet_limit.as_mut().is_some_and(|limit| !limit.take(now)) {
            return Err(DisconnectReason::TooFast("packets".to_owned()));
        }
        let protocol = |error: ReadError| DisconnectReason::Protocol(error.to_string());
        let next = self.outbox.sequence();
        let (header, extension, acks) =
            Header::read::<P::Extension>(reader, sequence, next, is_extended).map_err(protocol)?;
        let asks_for_ack = asks_for_ack(reader).map_err(protocol)?;
        if !is_new {
            if asks_for_ack {
                self.ack_pace.schedule_acks();
            }
            return Ok(None);
        }
        if let Some(floor) = header.floor {
            self.received.forget_below(floor);
        }
        Ok(Some(NewPacket { header, extension, acks, asks_for_ack }))
    }

    /// Records that a packet has arrived and was read to its end. From now on the packet is acked. Returns
    /// the acks that the packet contains. The caller processes them with [`next_acked`](Self::next_acked)
    /// until that method returns `None`.
    pub fn accept<'b>(&mut self, packet: NewPacket<'b, P>) -> Acks<'b, P> {
        self.received.insert(packet.header.sequence);
        self.outbox.losses.heard();
        self.ack_pace.arrived(packet.header.sequence);
        if packet.asks_for_ack {
            self.ack_pace.schedule_acks();
        }
        Acks { ranges: packet.acks, range: None, late: Vec::new().into_iter(), newest: None }
    }

    /// Processes acks up to the next ack that the user of the link must handle, and returns this ack. Costs
    /// O(acks), and O(log packets that count as lost) for each range of acks.
    ///
    /// Acks of packets that count as lost still show what has arrived. They must have an effect: on a link
    /// with round trips longer than the loss timeout, every packet counts as lost before its ack arrives.
    pub fn next_acked(&mut self, acks: &mut Acks<'_, P>, now: Duration) -> Option<Acked<'_, P>> {
        let sequence = loop {
            if let Some((sequence, late)) = acks.late.next() {
                return Some(Acked::Late(sequence, late));
            }
            let Some(range) = &mut acks.range else {
                match acks.ranges.next() {
                    Some(range) => self.begin_range(acks, range, now),
                    None => {
                        self.end_acks(acks, now);
                        return None;
                    }
                }
                continue;
            };
            let AckRange { first: sequence, last } = *range;
            if sequence > last {
                acks.range = None;
                continue;
            }
            range.first = sequence.next();
            if self.outbox.arrived(sequence) {
                self.health.timeouts = 0;
                if let Some(packet) = self.outbox.in_flight.awaited(sequence) {
                    self.exchange.outgoing.arrived(&packet.messages);
                    if packet.body.is_awaited() {
                        break sequence;
                    }
                }
            }
        };
        // The packet is looked up again, because the borrow checker would extend a borrow from within the
        // loop to the whole loop.
        let packet = self.outbox.in_flight.get(sequence)?;
        Some(Acked::Arrived(sequence, &packet.body))
    }

    /// Handles the acks for packets of the range that count as lost, and prepares the acks for the other
    /// packets.
    fn begin_range(&mut self, acks: &mut Acks<'_, P>, range: AckRange, now: Duration) {
        acks.newest = acks.newest.max(Some(range.last));
        if let Some(elapsed) = self.outbox.arrived_late(range, now) {
            self.health.acked_late(elapsed);
        }
        self.exchange.outgoing.arrived_late(range);
        acks.late = self.late.take(range).into_iter();
        let first = range.first.max(self.outbox.in_flight.floor());
        acks.range = Some(AckRange { first, ..range });
    }

    fn end_acks(&mut self, acks: &mut Acks<'_, P>, now: Duration) {
        if let Some(newest) = acks.newest.take() {
            self.health.acked(newest, self.outbox.acked(newest, now));
        }
    }

    /// Finds the packets that should have been acked by now. These are packets that are older than the
    /// timeout, and packets that were sent so long before an acked packet that reordering on the link cannot
    /// explain the missing ack. The caller receives them from [`next_lost`](Self::next_lost), and then calls
    /// [`end_losses`](Self::end_losses). Returns `None` if there are no such packets and the link answers.
    #[must_use]
    pub fn begin_losses(&self, now: Duration) -> Option<Losses> {
        let (overdue, has_timed_out) =
            self.health.overdue(self.outbox.in_flight.unknown(), self.outbox.binding, now);
        let is_quiet = overdue.is_empty() && !self.health.is_silent();
        (!is_quiet).then(|| Losses { overdue: overdue.into_iter(), has_timed_out })
    }

    /// Declares the next packet lost, and returns the record of its body. The records of later packets stay
    /// available until [`end_losses`](Self::end_losses).
    pub fn next_lost(&mut self, losses: &mut Losses) -> Option<(Sequence, &mut P::Record)> {
        let sequence = losses.overdue.find(|&sequence| self.outbox.lost(sequence))?;
        self.health.packets_lost += 1;
        let packet = self.outbox.in_flight.get_mut(sequence)?;
        self.exchange.outgoing.lost(sequence, &packet.messages);
        packet.body.late().into_iter().for_each(|late| self.late.add(sequence, late));
        Some((sequence, &mut packet.body))
    }

    /// Ends the handling of losses. If the link has not answered for a long time, returns a time: the caller
    /// then sends all data again that was sent by this time, even before its timeout. For messages, this
    /// method itself does so.
    pub fn end_losses(&mut self, losses: Losses, now: Duration) -> Option<Duration> {
        self.outbox.in_flight.trim();
        self.health.timeouts = self.health.timeouts.saturating_add(u32::from(losses.has_timed_out));
        let sent_by = self.health.begin_retry(self.outbox.binding, now)?;
        self.exchange.outgoing.retry(&self.outbox.in_flight, sent_by);
        Some(sent_by)
    }

    /// Begins to fill the packets of a tick. Returns whether these packets contain acks.
    pub fn begin_pass(&mut self, now: Duration) -> bool {
        self.outbox.pace(now, self.health.timeouts);
        self.outbox.begin_pass();
        // If the limit on packets in a second allows no packet now, the ack remains due.
        let owes_ack = self.outbox.allows_packet(now) && self.ack_pace.is_due();
        self.outbox.set_received(owes_ack.then_some(&self.received));
        self.exchange.outgoing.begin_pass();
        owes_ack
    }

    /// Does the same as [`begin_pass`](Self::begin_pass) in a tick that only [signals](Self::signal).
    pub fn begin_signal(&mut self) -> bool {
        self.outbox.begin_pass();
        self.ack_pace.is_due()
    }

    /// Sends the waiting messages, as [`Outgoing::send`](crate::messages::outgoing::Outgoing::send)
    /// describes. Returns how many bits they take.
    pub fn send_messages(&mut self, budget_bits: usize, may_receive: MayReceive<'_>, now: Duration) -> usize {
        self.exchange.outgoing.send(&mut self.outbox, budget_bits, may_receive, now)
    }

    /// Sends the guaranteed share of [bulk messages](crate::MessageOptions::max_bytes), before anything else
    /// is sent in a tick.
    pub fn send_bulk_share(&mut self, now: Duration) {
        self.exchange.outgoing.send_bulk_share(&mut self.outbox, now);
    }

    /// Sends bulk messages in the room that all other data of a tick does not use. After this call, nothing
    /// else may be sent in the same tick.
    pub fn send_bulk_rest(&mut self, now: Duration) {
        self.exchange.outgoing.send_bulk_rest(&mut self.outbox, now);
    }

    /// Queues a packet without a body, with all acks if `has_acks` is set.
    pub fn signal(&mut self, has_acks: bool, now: Duration) {
        let none = Received::default();
        self.outbox.signal(if has_acks { &self.received } else { &none }, now);
    }

    /// Returns the time by which this side must send its next packet. `timeout` is the shorter timeout of the
    /// two sides.
    #[must_use]
    pub fn silent_until(&self, timeout: Duration) -> Duration {
        let next = self.outbox.sequence().number();
        let longest = keep_alive::longest_silence(timeout, self.outbox.binding, next);
        self.health.last_sent.saturating_add(longest)
    }

    /// Returns whether acks must be sent in a later tick.
    #[must_use]
    pub fn owes_acks(&self) -> bool {
        self.ack_pace.is_waiting()
    }

    /// Returns about how many bytes of memory the link occupies, without packets and their records. The
    /// outbox counts packets and records. Costs O(channels).
    #[must_use]
    pub fn other_bytes(&self) -> usize {
        self.late.held_bytes() + self.exchange.held_bytes()
    }

    /// Forgets the parts of bodies that are stored for late acks. These parts are sent again unless a copy in
    /// a later packet arrives.
    pub fn forget_late(&mut self) {
        self.late.clear();
        self.late.end_round();
    }

    /// Forgets the parts of bodies that are stored for late acks of packets before `end`.
    pub fn forget_late_before(&mut self, end: Sequence) {
        self.late.forget_before(end);
    }

    /// Frees memory that was not needed recently.
    pub fn end_round(&mut self) {
        self.late.end_round();
        self.outbox.end_round();
        self.exchange.outgoing.end_round();
    }

    /// Does all the work of a tick for a link without bodies: declares packets lost, sends messages and acks,
    /// and keeps the session alive. `timeout` is the shorter timeout of the two sides. `must_signal` says
    /// whether a packet must be sent even if it is empty.
    pub fn tick(&mut self, timeout: Duration, must_signal: bool, now: Duration) {
        if let Some(mut losses) = self.begin_losses(now) {
            while self.next_lost(&mut losses).is_some() {}
            self.end_losses(losses, now);
        }
        let is_silent = now >= self.silent_until(timeout);
        let packets_before = self.outbox.queue.packets_sent;
        let owes_ack = self.begin_pass(now);
        self.send_bulk_share(now);
        self.send_messages(usize::MAX, &|_, _| true, now);
        self.send_bulk_rest(now);
        self.outbox.end_pass(now);
        let is_silent = is_silent && self.outbox.queue.packets_sent == packets_before;
        if owes_ack && !self.outbox.has_acked_all() {
            self.signal(true, now);
        } else if is_silent || must_signal {
            // Packets that probe a silent link contain no acks. Such late acks would look like long round
            // trips.
            self.signal(false, now);
        }
        if self.outbox.queue.packets_sent > packets_before {
            self.health.last_sent = now;
        }
        self.ticks = self.ticks.wrapping_add(1);
        if self.ticks.is_multiple_of(ROUND_TICKS) {
            self.end_round();
        }
    }
}
