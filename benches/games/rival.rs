//! The hand-written baseline: a server for one game, as a good engineer would write it.
//!
//! Each tick compares its objects with shadows and writes the changes once, into packets that are the same for
//! all clients. A client that has received everything gets copies of them. What a lost packet had is put into
//! a mask for each object, and is written for this client alone. A slot is used again when all clients have
//! acknowledged that its object is gone.
//!
//! *Invariant:* if a client differs from the server, the difference is pending or in flight.

use std::collections::VecDeque;
use std::ops::Range;

use crate::bits::{BitReader, BitWriter, PACKET_BYTES};

/// A set of fields of an object.
pub(crate) type Mask = u64;

/// The object is new.
pub(crate) const SPAWN: Mask = 1 << 62;
/// The object is gone.
pub(crate) const DESPAWN: Mask = 1 << 63;

const HEADER_BYTES: usize = 8;
/// How many ticks the server remembers.
const HISTORY: usize = 64;

/// What happened to one object in a tick.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    /// The number of the table of the object.
    pub(crate) table: u8,
    pub(crate) slot: u32,
    pub(crate) fields: Mask,
}

/// An object of a table.
pub(crate) trait Row: Clone + Default + PartialEq {
    /// Every field.
    const ALL: Mask;

    /// Returns the fields that differ.
    fn difference(&self, other: &Self) -> Mask;
    fn write(&self, fields: Mask, bits: &mut BitWriter);
    fn read(&mut self, fields: Mask, bits: &mut BitReader<'_>);
}

/// All objects of one kind.
pub(crate) struct Table<T> {
    pub(crate) rows: Vec<T>,
    shadows: Vec<T>,
    is_alive: Vec<bool>,
    /// The spawns and despawns since the last tick.
    events: Vec<(u32, Mask)>,
    free: VecDeque<u32>,
}

impl<T: Row> Table<T> {
    pub(crate) fn new() -> Self {
        Self {
            rows: Vec::new(),
            shadows: Vec::new(),
            is_alive: Vec::new(),
            events: Vec::new(),
            free: VecDeque::new(),
        }
    }

    pub(crate) fn spawn(&mut self, row: T) -> u32 {
        let slot = self.free.pop_front().unwrap_or_else(|| {
            self.rows.push(T::default());
            self.shadows.push(T::default());
            self.is_alive.push(false);
            self.rows.len() as u32 - 1
        });
        self.shadows[slot as usize] = row.clone();
        self.rows[slot as usize] = row;
        self.is_alive[slot as usize] = true;
        self.events.push((slot, SPAWN | T::ALL));
        slot
    }

    /// Makes a slot free, because all clients know that its object is gone.
    pub(crate) fn free(&mut self, slot: u32) {
        self.free.push_back(slot);
    }

    pub(crate) fn despawn(&mut self, slot: u32) {
        self.is_alive[slot as usize] = false;
        self.events.push((slot, DESPAWN));
    }

    /// Returns the objects, by their slots.
    pub(crate) fn alive(&self) -> impl Iterator<Item = (u32, &T)> {
        let alive = self.rows.iter().zip(&self.is_alive).zip(0..);
        alive.filter(|((_, is_alive), _)| **is_alive).map(|((row, _), slot)| (slot, row))
    }

    /// Adds what happened since the last tick. `is_static` says whether objects never change.
    pub(crate) fn compare(&mut self, table: u8, is_static: bool, entries: &mut Vec<Entry>) {
        if !is_static {
            for slot in 0..self.rows.len() {
                if self.is_alive[slot] {
                    let fields = self.rows[slot].difference(&self.shadows[slot]);
                    if fields != 0 {
                        self.shadows[slot] = self.rows[slot].clone();
                        entries.push(Entry { table, slot: slot as u32, fields });
                    }
                }
            }
        }
        entries.extend(self.events.drain(..).map(|(slot, fields)| Entry { table, slot, fields }));
    }
}

/// The objects of a game.
pub(crate) trait World {
    /// Returns what happened since the last tick.
    fn compare(&mut self, entries: &mut Vec<Entry>);
    /// Writes the values of an entry.
    fn write(&self, entry: Entry, bits: &mut BitWriter);
    /// Returns how many fields the objects of a table have.
    fn fields(table: u8) -> u32;
    /// Makes a slot free, because all clients know that its object is gone.
    fn free(&mut self, table: u8, slot: u32);
}

/// Reads the entries of a packet. `read` reads the values of an entry.
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

/// Writes entries into packets with empty headers. Calls `sent` with each packet and the entries in it.
fn write_packets<W: World>(
    world: &W,
    entries: &[Entry],
    bits: &mut BitWriter,
    mut sent: impl FnMut(&mut [u8], Range<usize>),
) {
    const LARGEST: usize = 160;
    let mut at = 0;
    while at < entries.len() {
        let start = at;
        bits.clear();
        bits.write(0, 32);
        bits.write(0, 32);
        while at < entries.len() && bits.byte_len() < PACKET_BYTES - LARGEST {
            write_entry(world, entries[at], bits);
            at += 1;
        }
        sent(bits.finish(), start..at);
    }
}

/// A tick that is remembered.
#[derive(Default)]
struct Tick {
    entries: Vec<Entry>,
    /// The packets with all entries, and which entries each has.
    packets: Vec<(Vec<u8>, Range<usize>)>,
}

/// What a packet in flight has.
enum Content {
    /// Entries of a remembered tick.
    Shared(u64, Range<usize>),
    Own(Vec<Entry>),
}

/// One client, as the server sees it.
#[derive(Default)]
pub(crate) struct Connection {
    sequence: u64,
    in_flight: VecDeque<(u64, Content)>,
    /// For each table and slot, what the client lacks.
    pending: [Vec<Mask>; 2],
    /// The entries with something pending.
    queue: Vec<(u8, u32)>,
}

impl Connection {
    fn want(&mut self, entry: Entry) {
        let masks = &mut self.pending[entry.table as usize];
        if masks.len() <= entry.slot as usize {
            masks.resize(entry.slot as usize + 1, 0);
        }
        let mask = &mut masks[entry.slot as usize];
        if *mask == 0 {
            self.queue.push((entry.table, entry.slot));
        }
        *mask = if entry.fields & DESPAWN != 0 { DESPAWN } else { *mask | entry.fields };
    }
}

/// The server of a game.
pub(crate) struct Rival<W> {
    pub(crate) world: W,
    pub(crate) connections: Vec<Connection>,
    ticks: VecDeque<Tick>,
    /// The number of the oldest remembered tick.
    first: u64,
    /// For each table and slot, how many clients have not acknowledged that its object is gone.
    waiting: [Vec<u32>; 2],
    bits: BitWriter,
}

impl<W: World> Rival<W> {
    pub(crate) fn new(world: W, connections: usize) -> Self {
        let connections = (0..connections).map(|_| Connection::default()).collect();
        let waiting = [Vec::new(), Vec::new()];
        Self { world, connections, ticks: VecDeque::new(), first: 0, waiting, bits: BitWriter::new() }
    }

    /// Makes the packets of a tick, and lends each to `transmit` with the index of its client.
    pub(crate) fn tick(&mut self, mut transmit: impl FnMut(usize, &[u8])) {
        let Self { world, connections, ticks, first, waiting, bits } = self;
        let mut tick = if ticks.len() == HISTORY {
            *first += 1;
            ticks.pop_front().expect("it is full")
        } else {
            Tick::default()
        };
        let number = *first + ticks.len() as u64;
        tick.entries.clear();
        world.compare(&mut tick.entries);
        for entry in tick.entries.iter().filter(|entry| entry.fields & DESPAWN != 0) {
            let counts = &mut waiting[entry.table as usize];
            counts.resize(counts.len().max(entry.slot as usize + 1), 0);
            counts[entry.slot as usize] = connections.len() as u32;
        }
        let mut count = 0;
        write_packets(world, &tick.entries, bits, |packet, range| {
            if tick.packets.len() == count {
                tick.packets.push((Vec::new(), 0..0));
            }
            let known = &mut tick.packets[count];
            known.0.clear();
            known.0.extend_from_slice(packet);
            known.1 = range;
            count += 1;
        });
        tick.packets.truncate(count);
        for (at, connection) in connections.iter_mut().enumerate() {
            if !connection.queue.is_empty() {
                send_pending(connection, world, bits, |packet| transmit(at, packet));
            }
            for (packet, range) in &mut tick.packets {
                packet[..HEADER_BYTES].copy_from_slice(&connection.sequence.to_le_bytes());
                transmit(at, packet);
                connection.in_flight.push_back((connection.sequence, Content::Shared(number, range.clone())));
                connection.sequence += 1;
            }
        }
        ticks.push_back(tick);
    }

    /// Handles an ack or the loss of the oldest packet in flight of a client.
    pub(crate) fn resolve(&mut self, connection: usize, sequence: u64, is_lost: bool) {
        let Self { world, connections, ticks, first, waiting, .. } = self;
        let connection = &mut connections[connection];
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

fn send_pending<W: World>(
    connection: &mut Connection,
    world: &W,
    bits: &mut BitWriter,
    mut transmit: impl FnMut(&[u8]),
) {
    let Connection { sequence, in_flight, pending, queue } = connection;
    let entries: Vec<Entry> = queue
        .drain(..)
        .map(|(table, slot)| {
            let fields = std::mem::take(&mut pending[table as usize][slot as usize]);
            Entry { table, slot, fields }
        })
        .collect();
    write_packets(world, &entries, bits, |packet, range| {
        packet[..HEADER_BYTES].copy_from_slice(&sequence.to_le_bytes());
        transmit(packet);
        in_flight.push_back((*sequence, Content::Own(entries[range].to_vec())));
        *sequence += 1;
    });
}
