//! The server's status in the headers of packets: the tick in which the packet was made, the round trip, and
//! whether the client has joined (received all objects that existed when it connected).
//!
//! A header contains the tick as the *lead*: the tick minus the stamp. The stamp of a packet is the number of
//! the first packet of the same tick. While each tick sends one packet, the lead remains the same. An
//! unchanged lead takes one bit in the header. After a change of the lead, headers contain the tick itself
//! until the client has acked a packet with the new lead. Therefore the client learns each change of the
//! lead, even if packets are lost.
//!
//! *Invariant:* a client never computes a wrong tick. A short form of the tick is sent only after the client
//! has acked the packet to which the form refers.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::time::Duration;

use repl_core::{BitReader, BitWriter, ReadError};
use repl_link::parts::{Extension, Header, Sequence};

/// The greatest number of bits that a status takes in a header.
const STATUS_BITS: usize = 3 + 32 + 28 + 1;

/// The longest round trip that is sent, in milliseconds.
const MAX_ROUND_TRIP_MS: u64 = 0xffff;

/// The form in which a header contains the tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TickForm {
    /// The lead (the tick minus the number of the tick's first packet) is the same as in a packet that the
    /// client has acked.
    SameLead,
    /// The header contains the low eight bits of the tick. They are enough, because the client knows a tick
    /// that is less than 256 ticks older.
    Short(u8),
    /// The header contains the low 16 bits of the tick. They are enough, because the client knows a tick that
    /// is less than 65,536 ticks older.
    Middle(u16),
    /// The header contains the low 32 bits of the tick.
    Long(u32),
}

/// The part of the status that only some packets contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConnectionStatus {
    pub(crate) round_trip: Duration,
    /// Whether the client has joined: all objects that existed when it connected have arrived.
    pub(crate) has_joined: bool,
}

/// The status of the server, as the header of one packet contains it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Status {
    tick: TickForm,
    pub(crate) connection: Option<ConnectionStatus>,
}

impl Status {
    fn write(&self, writer: &mut BitWriter) {
        if let Some(connection) = self.connection {
            let round_trip_ms = connection.round_trip.as_millis().min(MAX_ROUND_TRIP_MS.into()) as u64;
            writer.write_exp_golomb(round_trip_ms, 5);
            writer.write_flag(connection.has_joined);
        }
        match self.tick {
            TickForm::SameLead => writer.write_bits(0, 1),
            TickForm::Short(low) => writer.write_bits(0b01 | u64::from(low) << 2, 10),
            TickForm::Middle(low) => writer.write_bits(0b011 | u64::from(low) << 3, 19),
            TickForm::Long(low) => writer.write_bits(0b111 | u64::from(low) << 3, 35),
        }
    }

    /// Reads a status that [`write`](Self::write) wrote. `has_connection` says whether the status contains a
    /// [`ConnectionStatus`].
    fn read(reader: &mut BitReader<'_>, has_connection: bool) -> Result<Self, ReadError> {
        let mut connection = None;
        if has_connection {
            let round_trip_ms = reader.read_exp_golomb(5)?;
            if round_trip_ms > MAX_ROUND_TRIP_MS {
                return Err(ReadError::OutOfRange);
            }
            let round_trip = Duration::from_millis(round_trip_ms);
            connection = Some(ConnectionStatus { round_trip, has_joined: reader.read_flag()? });
        }
        let tick = if !reader.read_flag()? {
            TickForm::SameLead
        } else if !reader.read_flag()? {
            TickForm::Short(reader.read_bits(8)? as u8)
        } else if !reader.read_flag()? {
            TickForm::Middle(reader.read_bits(16)? as u16)
        } else {
            TickForm::Long(reader.read_bits(32)? as u32)
        };
        Ok(Self { tick, connection })
    }
}

/// The server's side of the status: decides which status the next packet of a connection contains.
#[derive(Debug, Default)]
pub(crate) struct StatusSource {
    tick: u64,
    /// The current lead (the tick minus the number of the tick's first packet), modulo 2⁶⁴, and the number
    /// of the first packet with this lead.
    lead: Option<(u64, Sequence)>,
    newest_acked: Option<Sequence>,
    /// The number of a packet, and the tick in which it was sent. After the client has acked this packet, it
    /// knows this tick or a newer one.
    mark: Option<(Sequence, u64)>,
    /// The client certainly knows this tick or a newer one.
    known_tick: Option<u64>,
    connection: Option<ConnectionStatus>,
    /// The first packet that told the client that it has joined (has all objects that existed when it
    /// connected).
    joined_in: Option<Sequence>,
}

impl StatusSource {
    /// Begins the packets of a tick. `next` is the number of the first packet of this tick.
    pub(crate) fn begin_pass(
        &mut self,
        tick: u64,
        next: Sequence,
        newest_acked: Option<Sequence>,
        connection: ConnectionStatus,
    ) {
        (self.tick, self.newest_acked, self.connection) = (tick, newest_acked, Some(connection));
        if let Some((_, known)) = self.mark.take_if(|(sequence, _)| newest_acked >= Some(*sequence)) {
            self.known_tick = Some(known);
        }
        self.mark.get_or_insert((next, tick));
    }

    /// Returns whether the client has joined, and no packet has told the client so yet.
    pub(crate) fn is_join_unsent(&self) -> bool {
        self.joined_in.is_none() && self.is_urgent()
    }

    /// Returns the status for the packet `sequence`. `stamp` is the number of the first packet of the same
    /// tick. `with_connection` says whether the status contains a [`ConnectionStatus`].
    fn next(&mut self, sequence: Sequence, stamp: Sequence, with_connection: bool) -> Status {
        let lead = self.tick.wrapping_sub(stamp.number());
        let since = match self.lead {
            Some((known, since)) if known == lead => since,
            _ => self.lead.insert((lead, sequence)).1,
        };
        let tick = if self.newest_acked >= Some(since) {
            TickForm::SameLead
        } else {
            match self.known_tick.map(|known| self.tick.saturating_sub(known)) {
                Some(0..0x100) => TickForm::Short(self.tick as u8),
                Some(0x100..0x1_0000) => TickForm::Middle(self.tick as u16),
                _ => TickForm::Long(self.tick as u32),
            }
        };
        let connection = self.connection.filter(|_| with_connection);
        if connection.is_some_and(|connection| connection.has_joined) {
            self.joined_in.get_or_insert(sequence);
        }
        Status { tick, connection }
    }
}

impl Extension for StatusSource {
    type Content = Status;

    const BITS: usize = STATUS_BITS;

    /// Returns whether the client has joined but may not know it yet.
    fn is_urgent(&self) -> bool {
        self.connection.is_some_and(|connection| connection.has_joined)
            && self.joined_in.is_none_or(|told| self.newest_acked < Some(told))
    }

    fn write(&mut self, header: &Header, is_long: bool, writer: &mut BitWriter) {
        self.next(header.sequence, header.stamp, is_long).write(writer);
    }

    fn read(reader: &mut BitReader<'_>, is_long: bool) -> Result<Status, ReadError> {
        Status::read(reader, is_long)
    }
}

/// The client's side of the status: stores the status that the server has sent.
#[derive(Debug, Default)]
pub(crate) struct StatusSink {
    /// The number of the newest packet, its stamp (the number of the first packet of the same tick), and its
    /// tick.
    newest: Option<(Sequence, Sequence, u64)>,
    pub(crate) connection: Option<ConnectionStatus>,
}

impl StatusSink {
    /// Returns the server's tick in which the newest packet was made.
    pub(crate) fn tick(&self) -> Option<u64> {
        self.newest.map(|(.., tick)| tick)
    }

    /// Stores the status of a packet. A packet that is older than the newest one changes nothing.
    pub(crate) fn take(&mut self, sequence: Sequence, stamp: Sequence, status: Status) {
        if self.is_newer_than(sequence) {
            return;
        }
        // If the packet has no connection status, the previous one remains valid.
        self.connection = status.connection.or(self.connection);
        if let Some(tick) = self.tick_of(sequence, stamp, status) {
            self.newest = Some((sequence, stamp, tick));
        }
    }

    fn is_newer_than(&self, sequence: Sequence) -> bool {
        self.newest.is_some_and(|(newest, ..)| newest > sequence)
    }

    /// Returns the tick of a packet. Returns `None` if a newer packet has arrived, because the forms of the
    /// tick refer to the newest packet.
    pub(crate) fn tick_of(&self, sequence: Sequence, stamp: Sequence, status: Status) -> Option<u64> {
        if self.is_newer_than(sequence) {
            return None;
        }
        let known = self.newest.map_or(0, |(.., tick)| tick);
        Some(match (status.tick, self.newest) {
            (TickForm::SameLead, None) => return None,
            (TickForm::SameLead, Some((_, newest, tick))) => {
                tick.wrapping_add(stamp.number().wrapping_sub(newest.number()))
            }
            (TickForm::Short(low), _) => known.wrapping_add(u64::from(low.wrapping_sub(known as u8))),
            (TickForm::Middle(low), _) => known.wrapping_add(u64::from(low.wrapping_sub(known as u16))),
            (TickForm::Long(low), _) => known.wrapping_add(u64::from(low.wrapping_sub(known as u32))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONNECTION: ConnectionStatus =
        ConnectionStatus { round_trip: Duration::from_millis(60), has_joined: false };

    /// The packets of a simulated server. Each packet has its number, its stamp and its tick.
    struct Wire {
        source: StatusSource,
        next: Sequence,
        sent: Vec<(Sequence, Sequence, u64, Vec<u8>)>,
        bits: usize,
    }

    impl Wire {
        fn new() -> Self {
            Self { source: StatusSource::default(), next: Sequence::new(0), sent: Vec::new(), bits: 0 }
        }

        fn pass(&mut self, tick: u64, packets: u64, acked: Option<Sequence>) {
            self.source.begin_pass(tick, self.next, acked, CONNECTION);
            let stamp = self.next;
            for _ in 0..packets {
                let mut writer = BitWriter::new();
                self.source.next(self.next, stamp, false).write(&mut writer);
                self.bits += writer.bit_len();
                self.sent.push((self.next, stamp, tick, writer.finish().to_vec()));
                self.next = self.next.next();
            }
        }
    }

    #[test]
    fn a_client_computes_the_tick_after_any_gap() {
        for gap in [0x1, 0xff, 0x100, 0xffff, 0x1_0000, 0xffff_ffff] {
            let (mut wire, mut sink) = (Wire::new(), StatusSink::default());
            wire.pass(1, 1, None);
            wire.pass(1 + gap, 1, Some(Sequence::new(0)));
            for (sequence, stamp, tick, bytes) in wire.sent {
                let status = Status::read(&mut BitReader::new(&bytes), false).expect("as written");
                sink.take(sequence, stamp, status);
                assert_eq!(sink.tick(), Some(tick), "a gap of {gap}");
            }
        }
    }

    #[test]
    fn a_client_never_computes_a_wrong_tick_under_loss_and_reordering() {
        let mut random = 1_u64;
        let mut chance = |one_in: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33).is_multiple_of(one_in)
        };
        let (mut wire, mut sink) = (Wire::new(), StatusSink::default());
        let (mut tick, mut acked, mut known) = (0, None, 0);
        for round in 0..20_000_u64 {
            tick += if chance(500) {
                1_000
            } else if chance(5) {
                3
            } else {
                1
            };
            wire.pass(tick, if chance(10) { 3 } else { u64::from(!chance(4)) }, acked);
            let blackout = round % 1_000 > 900;
            for (sequence, stamp, tick, bytes) in std::mem::take(&mut wire.sent) {
                if chance(3) || blackout {
                    continue;
                }
                let status = Status::read(&mut BitReader::new(&bytes), false).expect("as written");
                sink.take(sequence, stamp, status);
                known = tick;
                assert_eq!(sink.tick(), Some(tick), "packet {sequence:?} in round {round}");
                if chance(4) {
                    // A packet that is late or a duplicate changes nothing.
                    sink.take(sequence.minus(1.min(sequence.number())), stamp, status);
                }
                if !chance(3) {
                    acked = acked.max(Some(sequence));
                }
            }
        }
        assert_eq!(sink.tick(), Some(known));
    }

    #[test]
    fn the_shortest_form_that_tells_the_tick_is_used_at_both_limits_of_each() {
        let (short, middle, long) = (10, 19, 35);
        let forms =
            [(255, short), (256, middle), (257, middle), (65_535, middle), (65_536, long), (65_537, long)];
        for (distance, bits) in forms {
            for known in [0, 255, 1_000, u64::from(u32::MAX)] {
                let (mut wire, mut sink) = (Wire::new(), StatusSink::default());
                // The client knows no tick yet. The first header contains the low 32 bits of the tick.
                wire.pass(known, 1, None);
                let before = wire.bits;
                wire.pass(known + distance, 1, Some(Sequence::new(0)));
                assert_eq!(wire.bits - before, bits, "{distance} ticks after tick {known}");
                for (sequence, stamp, tick, bytes) in wire.sent {
                    let status = Status::read(&mut BitReader::new(&bytes), false).expect("as written");
                    sink.take(sequence, stamp, status);
                    assert_eq!(sink.tick(), Some(tick), "{distance} ticks after tick {known}");
                }
            }
        }
    }

    #[test]
    fn a_longer_round_trip_than_the_longest_is_sent_as_the_longest() {
        for (round_trip_ms, read_ms) in [(65_535, 65_535), (65_536, 65_535), (u64::MAX, 65_535)] {
            let round_trip = Duration::from_millis(round_trip_ms);
            let connection = Some(ConnectionStatus { round_trip, has_joined: false });
            let mut writer = BitWriter::new();
            Status { tick: TickForm::SameLead, connection }.write(&mut writer);
            let read = Status::read(&mut writer.as_slice().reader(), true).map(|status| status.connection);
            let round_trip = Duration::from_millis(read_ms);
            assert_eq!(read, Ok(Some(ConnectionStatus { round_trip, has_joined: false })));
        }
    }

    #[test]
    fn one_packet_in_each_tick_needs_one_bit_for_the_tick() {
        let mut wire = Wire::new();
        for tick in 1..1_000 {
            let acked = wire.next.number().checked_sub(6).map(Sequence::new);
            wire.pass(tick, 1, acked);
        }
        assert!(wire.bits < 1_000 + 6 * 40, "{} bits", wire.bits);
    }

    #[test]
    fn every_written_form_is_read_again() {
        for tick in
            [TickForm::SameLead, TickForm::Short(200), TickForm::Middle(40_000), TickForm::Long(u32::MAX)]
        {
            for connection in [
                None,
                Some(CONNECTION),
                Some(ConnectionStatus { round_trip: Duration::from_millis(65_535), has_joined: true }),
            ] {
                let (status, mut writer) = (Status { tick, connection }, BitWriter::new());
                status.write(&mut writer);
                assert!(writer.bit_len() <= STATUS_BITS);
                assert_eq!(Status::read(&mut writer.as_slice().reader(), connection.is_some()), Ok(status));
            }
        }
    }
}
