//! An efficient hand-written server for games in which every client sees every object.
//!
//! Each tick compares the objects with shadows (copies with the values that were sent last) and writes the
//! changes once, into packets that are the same for all clients. A client that lacks nothing receives copies
//! of these packets. The fields of a lost packet are added to the client's mask of the object, and are
//! written for this client alone. If the budget of a client is too small, all changes are written for this
//! client alone. A slot is used again when all clients have acknowledged the removal of its object.
//!
//! *Invariant:* if a field differs between a client and the server, it is pending for the client or in
//! flight.

use std::collections::VecDeque;
use std::ops::Range;

use crate::bits::{BitReader, BitWriter, PACKET_BYTES};
use crate::rival::{DESPAWN, ENTRY_BYTES, Entry, HEADER_BYTES, Mask, Rival, SPAWN};

/// For how many ticks the server stores the changes.
const HISTORY: usize = 64;

/// The objects of a game.
pub(crate) trait World {
    /// Adds the entries of the changes since the last tick.
    fn compare(&mut self, entries: &mut Vec<Entry>);
    /// Writes the values of an entry.
    fn write(&self, entry: Entry, bits: &mut BitWriter);
    /// Returns how many fields an object of a table has.
    fn fields(table: u8) -> u32;
    /// Lets new objects use a slot again: all clients know that the old object is gone.
    fn free(&mut self, table: u8, slot: u32);
}

/// Reads the entries of a packet. Calls `read` for each to read its values.
pub(crate) fn read_packet<W: World>(packet: &[u8], mut read: impl FnMut(Entry, &mut BitReader<'_>)) {
    let mut bits = BitReader::new(&packet[HEADER_BYTES..]);
    while bits.remaining() >= 8 {
        let (table, slot, kind) = (bits.read(1) as u8, bits.read(16) as u32, bits.read(2));
        let fields = match kind {
            0 => bits.read(W::fields(table)),
            1 => SPAWN | ((1 << W::fields(table)) - 1),
            _ => DESPAWN,
        };
        read(Entry { table, slot, fields }, &mut bits);
    }
}

fn write_entry<W: World>(world: &W, entry: Entry, bits: &mut BitWriter) {
    bits.write(u64::from(entry.table) | u64::from(entry.slot) << 1, 17);
    if entry.fields & DESPAWN != 0 {
        bits.write(2, 2);
    } else if entry.fields & SPAWN != 0 {
        bits.write(1, 2);
        world.write(entry, bits);
    } else {
        bits.write(0, 2);
        bits.write(entry.fields, W::fields(entry.table));
        world.write(entry, bits);
    }
}

/// Writes entries into packets with empty headers, until they take `budget` bytes. Calls `sent` with each
/// packet and the range of its entries.
fn write_packets<W: World>(
    world: &W,
    entries: &[Entry],
    mut budget: usize,
    bits: &mut BitWriter,
    mut sent: impl FnMut(&mut [u8], Range<usize>),
) {
    let mut at = 0;
    while at < entries.len() && budget > HEADER_BYTES {
        let start = at;
        bits.clear();
        bits.write(0, 32);
        bits.write(0, 32);
        while at < entries.len() && bits.byte_len() < PACKET_BYTES - ENTRY_BYTES {
            let mark = bits.mark();
            write_entry(world, entries[at], bits);
            if bits.byte_len() > budget && at > start {
                bits.rewind(mark);
                break;
            }
            at += 1;
        }
        let is_full = at < entries.len() && bits.byte_len() < PACKET_BYTES - ENTRY_BYTES;
        budget = if is_full { 0 } else { budget.saturating_sub(bits.byte_len()) };
        sent(bits.finish(), start..at);
    }
}

/// The changes of a tick, which the server stores while packets may be in flight.
#[derive(Default)]
struct Tick {
    entries: Vec<Entry>,
    /// The packets that contain all entries, each with the range of its entries.
    packets: Vec<(Vec<u8>, Range<usize>)>,
}

/// The content of a packet in flight.
enum Content {
    /// A range of the entries of the tick with this number.
    Shared(u64, Range<usize>),
    Own(Vec<Entry>),
}

/// One client, as the server sees it.
#[derive(Default)]
pub(crate) struct Connection {
    sequence: u64,
    in_flight: VecDeque<(u64, Content)>,
    /// For each table and slot, the fields that the client lacks.
    pending: [Vec<Mask>; 2],
    /// The tables and slots with pending fields, oldest first.
    queue: VecDeque<(u8, u32)>,
}

impl Connection {
    fn want(&mut self, entry: Entry) {
        let masks = &mut self.pending[entry.table as usize];
        if masks.len() <= entry.slot as usize {
            masks.resize(entry.slot as usize + 1, 0);
        }
        let mask = &mut masks[entry.slot as usize];
        if *mask == 0 {
            self.queue.push_back((entry.table, entry.slot));
        }
        *mask = if entry.fields & DESPAWN != 0 { DESPAWN } else { *mask | entry.fields };
    }
}

/// The server of a game.
pub(crate) struct Shared<W> {
    pub(crate) world: W,
    connections: Vec<Connection>,
    ticks: VecDeque<Tick>,
    /// The number of the oldest stored tick.
    first: u64,
    /// For each table and slot, how many clients have not acknowledged that its object is gone.
    waiting: [Vec<u32>; 2],
    /// The greatest number of bytes that a tick sends to each client.
    budget: usize,
    bits: BitWriter,
}

impl<W: World> Shared<W> {
    pub(crate) fn new(world: W, connections: usize) -> Self {
        let connections = (0..connections).map(|_| Connection::default()).collect();
        Self {
            world,
            connections,
            ticks: VecDeque::new(),
            first: 0,
            waiting: [Vec::new(), Vec::new()],
            budget: usize::MAX,
            bits: BitWriter::new(),
        }
    }

    /// Compares the objects and writes the changes into packets. Returns how many bytes they have.
    fn write_tick(&mut self, tick: &mut Tick) -> usize {
        let Self { world, connections, waiting, bits, .. } = self;
        tick.entries.clear();
        world.compare(&mut tick.entries);
        for entry in tick.entries.iter().filter(|entry| entry.fields & DESPAWN != 0) {
            let counts = &mut waiting[entry.table as usize];
            counts.resize(counts.len().max(entry.slot as usize + 1), 0);
            counts[entry.slot as usize] = connections.len() as u32;
        }
        let (mut count, mut bytes) = (0, 0);
        write_packets(world, &tick.entries, usize::MAX, bits, |packet, range| {
            if tick.packets.len() == count {
                tick.packets.push((Vec::new(), 0..0));
            }
            let known = &mut tick.packets[count];
            known.0.clear();
            known.0.extend_from_slice(packet);
            known.1 = range;
            count += 1;
            bytes += packet.len();
        });
        tick.packets.truncate(count);
        bytes
    }
}

impl<W: World> Rival for Shared<W> {
    fn set_budget(&mut self, bytes: usize) {
        self.budget = bytes;
    }

    fn tick(&mut self, mut transmit: impl FnMut(usize, &[u8])) {
        let mut tick = if self.ticks.len() == HISTORY {
            self.first += 1;
            self.ticks.pop_front().expect("it is full")
        } else {
            Tick::default()
        };
        let bytes = self.write_tick(&mut tick);
        let number = self.first + self.ticks.len() as u64;
        let Self { world, connections, budget, bits, .. } = self;
        for (at, connection) in connections.iter_mut().enumerate() {
            let is_alone = bytes > *budget || *budget < usize::MAX && !connection.queue.is_empty();
            if is_alone {
                tick.entries.iter().for_each(|entry| connection.want(*entry));
            }
            if !connection.queue.is_empty() {
                send_pending(connection, world, *budget, bits, |packet| transmit(at, packet));
            }
            if is_alone {
                continue;
            }
            for (packet, range) in &mut tick.packets {
                packet[..HEADER_BYTES].copy_from_slice(&connection.sequence.to_le_bytes());
                transmit(at, packet);
                connection.in_flight.push_back((connection.sequence, Content::Shared(number, range.clone())));
                connection.sequence += 1;
            }
        }
        self.ticks.push_back(tick);
    }

    fn resolve(&mut self, client: usize, sequence: u64, is_lost: bool) {
        let Self { world, connections, ticks, first, waiting, .. } = self;
        let connection = &mut connections[client];
        let (known, content) = connection.in_flight.pop_front().expect("it is in flight");
        assert_eq!(known, sequence);
        let entries = match &content {
            Content::Own(entries) => entries.as_slice(),
            Content::Shared(tick, range) => &ticks[(tick - *first) as usize].entries[range.clone()],
        };
        if is_lost {
            entries.iter().for_each(|entry| connection.want(*entry));
            return;
        }
        for entry in entries.iter().filter(|entry| entry.fields & DESPAWN != 0) {
            let count = &mut waiting[entry.table as usize][entry.slot as usize];
            *count -= 1;
            if *count == 0 {
                world.free(entry.table, entry.slot);
            }
        }
    }
}

/// Sends the pending changes, oldest first, until they take `budget` bytes.
fn send_pending<W: World>(
    connection: &mut Connection,
    world: &W,
    budget: usize,
    bits: &mut BitWriter,
    mut transmit: impl FnMut(&[u8]),
) {
    let Connection { sequence, in_flight, pending, queue } = connection;
    let entry_of = |&(table, slot): &(u8, u32)| {
        let fields = pending[table as usize][slot as usize];
        Entry { table, slot, fields }
    };
    // An entry takes at least two bytes.
    let entries: Vec<Entry> = queue.iter().take(budget / 2).map(entry_of).collect();
    let mut count = 0;
    write_packets(world, &entries, budget, bits, |packet, range| {
        packet[..HEADER_BYTES].copy_from_slice(&sequence.to_le_bytes());
        transmit(packet);
        count = range.end;
        in_flight.push_back((*sequence, Content::Own(entries[range].to_vec())));
        *sequence += 1;
    });
    for (table, slot) in queue.drain(..count) {
        pending[table as usize][slot as usize] = 0;
    }
}
