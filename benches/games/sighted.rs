//! The hand-written server for games in which each client sees a part of the world.
//!
//! Each tick encodes the entry of each changed object once. A client receives copies of the entries of the
//! changed objects that it sees. All other fields that a client lacks are pending: fields of lost packets,
//! fields of objects that it begins or ceases to see, and fields that exceeded the budget. Pending fields are
//! a mask for each object. They are written for this client alone, and a queue says in which order. A grid
//! decides who sees what. Objects are never removed.
//!
//! *Invariant:* if a client differs from what it should see, the difference is pending for the client or in
//! flight.

use std::collections::VecDeque;

use crate::bits::{BitReader, BitWriter, PACKET_BYTES};
use crate::grid::{Grid, Set, each};
use crate::rival::{Compared, DESPAWN, ENTRY_BYTES, Entry, HEADER_BYTES, Mask, Rival, Row, SPAWN, Table};

/// An object with a position, and at most six fields.
pub(crate) trait Placed: Row {
    fn position(&self) -> [f32; 2];
}

/// A [`Mask`] in a byte: the fields, and two bits for spawns and despawns.
type Short = u8;

const SHORT_SPAWN: Short = 1 << 6;
const SHORT_DESPAWN: Short = 1 << 7;

const fn shorten(mask: Mask) -> Short {
    mask as u8 | (mask >> 56) as u8
}

const fn lengthen(short: Short) -> Mask {
    short as Mask & 0x3f | (short as Mask & 0xc0) << 56
}

const _: () = assert!(shorten(SPAWN) == SHORT_SPAWN && shorten(DESPAWN) == SHORT_DESPAWN);

/// The entry of an object that changed in this tick, as at most 112 bits.
#[derive(Clone, Copy, Default)]
struct Encoded {
    /// The first 56 bits.
    low: u64,
    high: u64,
    width: u32,
    fields: Short,
}

impl Encoded {
    fn of(written: &mut BitWriter, fields: Mask) -> Self {
        let width = written.bit_len() as u32;
        let mut bytes = [0; 16];
        let bits = written.finish();
        bytes[..bits.len()].copy_from_slice(bits);
        let bits = u128::from_le_bytes(bytes);
        let (low, high) = (bits as u64 & ((1 << 56) - 1), (bits >> 56) as u64);
        Self { low, high, width, fields: shorten(fields) }
    }

    #[inline]
    fn copy_to(&self, bits: &mut BitWriter) {
        bits.write(self.low, self.width.min(56));
        if self.width > 56 {
            bits.write(self.high, self.width - 56);
        }
    }
}

/// The part of a packet about one object: its slot and its fields.
type Sent = (u32, Short);

/// One client, as the server sees it.
struct Connection {
    sequence: u64,
    in_flight: VecDeque<(u64, Vec<Sent>)>,
    /// Empty lists that keep their memory for later use.
    spare: Vec<Vec<Sent>>,
    seen: Set,
    /// For each object, the fields that the client lacks.
    pending: Vec<Short>,
    /// The objects with pending fields: as a set, and as a queue, oldest first.
    is_pending: Set,
    queue: VecDeque<u32>,
}

impl Connection {
    fn new(objects: usize) -> Self {
        Self {
            sequence: 0,
            in_flight: VecDeque::new(),
            spare: Vec::new(),
            seen: vec![0; objects.div_ceil(64)],
            pending: vec![0; objects],
            is_pending: vec![0; objects.div_ceil(64)],
            queue: VecDeque::new(),
        }
    }

    fn sees(&self, slot: u32) -> bool {
        self.seen[slot as usize / 64] >> (slot % 64) & 1 == 1
    }

    /// Adds fields of an object to the pending fields of this client.
    fn want(&mut self, slot: u32, fields: Short) {
        let pending = &mut self.pending[slot as usize];
        if *pending == 0 {
            self.queue.push_back(slot);
            self.is_pending[slot as usize / 64] |= 1 << (slot % 64);
        }
        // A spawn or a despawn replaces the pending fields: a spawn contains all fields, a despawn none.
        *pending = if fields >= SHORT_SPAWN { fields } else { *pending | fields };
    }

    /// Shows an object to the client, or hides it.
    fn show(&mut self, slot: u32, all: Mask, is_seen: bool) {
        self.seen[slot as usize / 64] ^= 1 << (slot % 64);
        self.want(slot, if is_seen { shorten(SPAWN | all) } else { SHORT_DESPAWN });
    }

    /// Makes the fields of a lost packet pending, except those that the client does not need any more.
    fn lose(&mut self, lost: &[Sent]) {
        for &(slot, fields) in lost {
            if self.sees(slot) != (fields & SHORT_DESPAWN != 0) {
                self.want(slot, fields);
            }
        }
    }
}

/// The packet that is being written to one client.
struct Packets<'a, F> {
    bits: &'a mut BitWriter,
    has: Vec<Sent>,
    /// How many more bytes may be sent in this tick.
    budget: usize,
    transmit: F,
}

impl<'a, F: FnMut(&[u8])> Packets<'a, F> {
    fn new(connection: &mut Connection, budget: usize, bits: &'a mut BitWriter, transmit: F) -> Self {
        bits.clear();
        bits.write(0, 32);
        bits.write(0, 32);
        Self { bits, has: connection.spare.pop().unwrap_or_default(), budget, transmit }
    }

    /// Adds an entry to the packet. Returns false if the budget does not allow it.
    #[inline]
    fn add(&mut self, to: &mut Connection, sent: Sent, write: impl FnOnce(&mut BitWriter)) -> bool {
        let mark = self.bits.mark();
        write(self.bits);
        if self.bits.byte_len() > self.budget {
            self.bits.rewind(mark);
            return false;
        }
        self.has.push(sent);
        if self.bits.byte_len() >= PACKET_BYTES - ENTRY_BYTES {
            self.send(to);
        }
        true
    }

    fn send(&mut self, to: &mut Connection) {
        if self.has.is_empty() {
            return;
        }
        let packet = self.bits.finish();
        packet[..HEADER_BYTES].copy_from_slice(&to.sequence.to_le_bytes());
        (self.transmit)(packet);
        self.budget -= packet.len();
        let has = std::mem::replace(&mut self.has, to.spare.pop().unwrap_or_default());
        to.in_flight.push_back((to.sequence, has));
        to.sequence += 1;
        self.bits.clear();
        self.bits.write(0, 32);
        self.bits.write(0, 32);
    }

    fn finish(mut self, to: &mut Connection) {
        self.send(to);
        to.spare.push(self.has);
    }
}

/// The server of a game.
pub(crate) struct Sighted<T> {
    pub(crate) table: Table<T>,
    pub(crate) grid: Grid,
    connections: Vec<Connection>,
    /// For each slot, the entry of the object's last change. Only the entries of this tick are used.
    encoded: Vec<Encoded>,
    changed: Set,
    /// The objects whose encoded entries are copied for the present client.
    fresh: Set,
    /// The objects that changed in this tick.
    entries: Vec<Entry>,
    /// The greatest number of bytes that a tick sends to each client.
    budget: usize,
    bits: BitWriter,
}

impl<T: Placed> Sighted<T> {
    pub(crate) fn new(rows: Vec<T>, mut grid: Grid, connections: usize) -> Self {
        let count = rows.len();
        let mut table = Table::new();
        for row in rows {
            grid.add(row.position());
            table.spawn(row);
        }
        // These first changes are not needed: each client is sent a whole object when it comes into sight.
        table.compare(0, Compared::Edited, &mut Vec::new());
        Self {
            table,
            grid,
            connections: (0..connections).map(|_| Connection::new(count)).collect(),
            encoded: vec![Encoded::default(); count],
            changed: vec![0; count.div_ceil(64)],
            fresh: vec![0; count.div_ceil(64)],
            entries: Vec::new(),
            budget: usize::MAX,
            bits: BitWriter::new(),
        }
    }

    /// Moves the viewpoint of a client.
    pub(crate) fn look(&mut self, client: usize, from: [f32; 2]) {
        let connection = &mut self.connections[client];
        self.grid.look(client as u32, from, |slot, is_seen| connection.show(slot, T::ALL, is_seen));
    }

    /// Compares the objects, moves them in the grid and encodes the changes.
    fn encode(&mut self) {
        let Self { table, grid, connections, encoded, changed, entries, bits, .. } = self;
        entries.clear();
        changed.fill(0);
        table.compare(0, Compared::Edited, entries);
        for entry in entries {
            let (slot, row) = (entry.slot, &table.rows[entry.slot as usize]);
            grid.move_object(slot, row.position(), |viewer, is_seen| {
                connections[viewer as usize].show(slot, T::ALL, is_seen);
            });
            changed[slot as usize / 64] |= 1 << (slot % 64);
            bits.clear();
            write_entry(row, slot, entry.fields, table.rows.len(), bits);
            encoded[slot as usize] = Encoded::of(bits, entry.fields);
        }
    }
}

impl<T: Placed> Rival for Sighted<T> {
    fn set_budget(&mut self, bytes: usize) {
        self.budget = bytes;
    }

    fn tick(&mut self, mut transmit: impl FnMut(usize, &[u8])) {
        self.encode();
        let Self { table, connections, encoded, changed, fresh, budget, bits, .. } = self;
        for (at, connection) in connections.iter_mut().enumerate() {
            let mut packets = Packets::new(connection, *budget, bits, |packet: &[u8]| transmit(at, packet));
            merge_changes(connection, encoded, changed, fresh);
            send_pending(connection, &mut packets, &table.rows);
            send_changes(connection, &mut packets, encoded, fresh);
            packets.finish(connection);
        }
    }

    fn resolve(&mut self, client: usize, sequence: u64, is_lost: bool) {
        let connection = &mut self.connections[client];
        let (known, mut sent) = connection.in_flight.pop_front().expect("it is in flight");
        assert_eq!(known, sequence);
        if is_lost {
            connection.lose(&sent);
        }
        sent.clear();
        connection.spare.push(sent);
    }
}

/// Sends the pending changes, oldest first.
fn send_pending<T: Row>(to: &mut Connection, packets: &mut Packets<'_, impl FnMut(&[u8])>, rows: &[T]) {
    while let Some(&slot) = to.queue.front() {
        let fields = to.pending[slot as usize];
        let fits = packets.add(to, (slot, fields), |bits| {
            write_entry(&rows[slot as usize], slot, lengthen(fields), rows.len(), bits);
        });
        if !fits {
            return;
        }
        to.queue.pop_front();
        to.pending[slot as usize] = 0;
        to.is_pending[slot as usize / 64] &= !(1 << (slot % 64));
    }
}

/// Puts the changed objects that a client sees into `fresh`. If an object has pending fields, its new changes
/// become pending instead.
fn merge_changes(to: &mut Connection, encoded: &[Encoded], changed: &Set, fresh: &mut Set) {
    for (word, (fresh, changed)) in fresh.iter_mut().zip(changed).enumerate() {
        let (seen, pending) = (to.seen[word] & changed, to.is_pending[word]);
        *fresh = seen & !pending;
        each(word, seen & pending, |slot| to.want(slot, encoded[slot as usize].fields));
    }
}

/// Copies the entries of objects without pending fields. Entries that do not fit become pending.
fn send_changes(
    to: &mut Connection,
    packets: &mut Packets<'_, impl FnMut(&[u8])>,
    encoded: &[Encoded],
    fresh: &Set,
) {
    for (word, &fresh) in fresh.iter().enumerate() {
        each(word, fresh, |slot| {
            let encoded = &encoded[slot as usize];
            if !packets.add(to, (slot, encoded.fields), |bits| encoded.copy_to(bits)) {
                to.want(slot, encoded.fields);
            }
        });
    }
}

fn slot_bits(objects: usize) -> u32 {
    (objects - 1).ilog2() + 1
}

fn write_entry<T: Row>(row: &T, slot: u32, fields: Mask, objects: usize, bits: &mut BitWriter) {
    let kind = if fields & DESPAWN != 0 { 2 } else { u64::from(fields & SPAWN != 0) };
    let width = slot_bits(objects);
    bits.write(u64::from(slot) | kind << width, width + 2);
    if kind == 0 {
        bits.write(fields, T::ALL.count_ones());
    }
    if kind != 2 {
        row.write(fields, bits);
    }
}

/// Applies a packet to a client's objects.
pub(crate) fn receive<T: Row>(objects: &mut [Option<T>], packet: &[u8]) {
    let mut bits = BitReader::new(&packet[HEADER_BYTES..]);
    while bits.remaining() >= 8 {
        let slot = bits.read(slot_bits(objects.len())) as usize;
        let kind = bits.read(2);
        if kind > 0 {
            objects[slot] = (kind == 1).then(T::default);
        }
        let fields = match kind {
            0 => bits.read(T::ALL.count_ones()),
            1 => T::ALL,
            _ => continue,
        };
        // The object is missing because its spawn was lost. The spawn will be sent again with all fields, so
        // this entry is ignored.
        let mut lost = T::default();
        objects[slot].as_mut().unwrap_or(&mut lost).read(fields, &mut bits);
    }
}
