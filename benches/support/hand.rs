//! The hand-written baseline: an efficient delta encoder for a single struct, with state for each connection.
//!
//! Setters record the changed fields of each object in a mask, and the changed objects in a list. Each
//! connection has a mask for each object, with the fields that its client lacks, and a record of the content
//! of each packet in flight. The fields of a lost packet are put back into the masks. Packets are always
//! written from the current values. A player is sent whole until a packet with the whole player is
//! acknowledged. There are no conditions, no relevancy, no references and no despawn.
//!
//! *Invariant:* if a client differs from the server in a field, the field is in its slot's mask or in a
//! packet in flight.

use std::collections::VecDeque;

use crate::bits::{BitWriter, PACKET_BYTES};
use crate::player::Player;
use crate::wire::{self, Mask};
use crate::workload::Arena;

/// The players, and what changed since the last tick.
pub(crate) struct World {
    pub(crate) players: Vec<Player>,
    /// For each player, its changed fields.
    changed: Vec<Mask>,
    /// The players whose mask of changed fields is not empty, without repetitions.
    dirty: Vec<u32>,
}

impl World {
    /// Returns a world of `count` unchanged players.
    pub(crate) fn new(count: u32) -> Self {
        let players: Vec<Player> = (0..count).map(Player::nth).collect();
        Self { changed: vec![0; players.len()], dirty: Vec::with_capacity(players.len()), players }
    }

    /// Returns the players that changed, and their changed fields.
    #[inline]
    pub(crate) fn changes(&self) -> impl Iterator<Item = (u32, Mask)> {
        self.dirty.iter().map(|slot| (*slot, self.changed[*slot as usize]))
    }

    /// Forgets all changes.
    pub(crate) fn settle(&mut self) {
        for slot in self.dirty.drain(..) {
            self.changed[slot as usize] = 0;
        }
    }

    #[inline]
    fn mark(&mut self, slot: u32, fields: Mask) {
        let changed = &mut self.changed[slot as usize];
        if *changed == 0 {
            self.dirty.push(slot);
        }
        *changed |= fields;
    }
}

impl Arena for World {
    #[inline]
    fn set_health(&mut self, index: u32, health: u16) {
        self.players[index as usize].health = health;
        self.mark(index, wire::HEALTH);
    }

    #[inline]
    fn turn(&mut self, index: u32, position: [f32; 3], yaw: f32) {
        let player = &mut self.players[index as usize];
        (player.position, player.yaw) = (position, yaw);
        self.mark(index, wire::POSITION | wire::YAW);
    }
}

/// The state of one player in a connection.
#[derive(Clone, Copy, Default)]
struct Slot {
    /// The fields that the client lacks and that are in no packet in flight.
    pending: Mask,
    /// Whether a packet with the whole player was acknowledged.
    spawned: bool,
}

struct Record {
    slot: u32,
    fields: Mask,
}

struct InFlight {
    sequence: u64,
    records: Vec<Record>,
    /// How many records at the start of the packet are spawns.
    spawns: usize,
}

/// One client, as the server sees it.
pub(crate) struct Connection {
    slots: Vec<Slot>,
    /// The slots with pending fields whose players are not `spawned` yet, without repetitions.
    unspawned: Vec<u32>,
    /// The other slots with pending fields, without repetitions.
    queue: Vec<u32>,
    in_flight: VecDeque<InFlight>,
    /// Empty lists that keep their memory.
    spare: Vec<Vec<Record>>,
    /// The sequence number of the next packet.
    sequence: u64,
}

impl Connection {
    /// Returns the state of a client that has not received any of `players` players.
    pub(crate) fn new(players: usize) -> Self {
        let mut connection = Self::blind(players);
        (0..players as u32).for_each(|slot| connection.want(slot, wire::ALL));
        connection
    }

    /// Returns the state of a client that sees none of `players` players.
    pub(crate) fn blind(players: usize) -> Self {
        Self {
            slots: vec![Slot { pending: 0, spawned: false }; players],
            unspawned: Vec::new(),
            queue: Vec::new(),
            in_flight: VecDeque::new(),
            spare: Vec::new(),
            sequence: 0,
        }
    }

    /// Adds the world's changes to what the client lacks, and sends that. Passes each packet to `transmit`.
    pub(crate) fn send(&mut self, world: &World, packet: &mut BitWriter, transmit: impl FnMut(&[u8])) {
        for (slot, fields) in world.changes() {
            self.want(slot, fields);
        }
        self.send_wanted(world, packet, transmit);
    }

    /// Sends the fields that the client lacks. Passes each packet to `transmit`.
    pub(crate) fn send_wanted(
        &mut self,
        world: &World,
        packet: &mut BitWriter,
        mut transmit: impl FnMut(&[u8]),
    ) {
        let mut spawns = self.unspawned.len();
        let mut changes = self.queue.len();
        let (mut next_spawn, mut next_change) = (0, 0);
        while spawns + changes > 0 {
            let mut records = self.spare.pop().unwrap_or_default();
            packet.clear();
            wire::write_header(packet, self.sequence);
            let spawned = self.write_spawns(&world.players, packet, next_spawn, &mut records);
            let changed = self.write_changes(&world.players, packet, next_change, &mut records);
            (next_spawn, next_change) = (next_spawn + spawned, next_change + changed);
            (spawns, changes) = (spawns - spawned, changes - changed);
            let bytes = packet.finish();
            wire::patch_spawns(bytes, spawned as u16);
            transmit(bytes);
            self.in_flight.push_back(InFlight { sequence: self.sequence, records, spawns: spawned });
            self.sequence += 1;
        }
        self.unspawned.clear();
        self.queue.clear();
    }

    /// Writes spawns until the packet is full, beginning with number `from` in the list. Returns how many.
    fn write_spawns(
        &mut self,
        players: &[Player],
        packet: &mut BitWriter,
        from: usize,
        records: &mut Vec<Record>,
    ) -> usize {
        let bits = wire::slot_bits(players.len());
        let mut previous = None;
        for slot in &self.unspawned[from..] {
            if packet.byte_len() > PACKET_BYTES - wire::RECORD_BYTES {
                break;
            }
            self.slots[*slot as usize].pending = 0;
            wire::write_spawn(packet, *slot, bits, previous, &players[*slot as usize]);
            previous = Some(*slot);
            records.push(Record { slot: *slot, fields: wire::ALL });
        }
        records.len()
    }

    /// Writes changes until the packet is full, beginning with number `from` in the list. Returns how many.
    fn write_changes(
        &mut self,
        players: &[Player],
        packet: &mut BitWriter,
        from: usize,
        records: &mut Vec<Record>,
    ) -> usize {
        let bits = wire::slot_bits(players.len());
        let before = records.len();
        for slot in &self.queue[from..] {
            if packet.byte_len() > PACKET_BYTES - wire::RECORD_BYTES {
                break;
            }
            let fields = std::mem::take(&mut self.slots[*slot as usize].pending);
            wire::write_change(packet, *slot, bits, fields, &players[*slot as usize]);
            records.push(Record { slot: *slot, fields });
        }
        records.len() - before
    }

    /// Records that the client lacks fields of a player.
    #[inline]
    pub(crate) fn want(&mut self, slot: u32, fields: Mask) {
        let state = &mut self.slots[slot as usize];
        if state.pending == 0 {
            if state.spawned { self.queue.push(slot) } else { self.unspawned.push(slot) }
        }
        state.pending |= fields;
    }

    /// Handles every packet in flight up to and including sequence number `last`, oldest first. `is_lost`
    /// says whether a packet was lost or acknowledged.
    pub(crate) fn acknowledge(&mut self, last: u64, is_lost: impl Fn(u64) -> bool) {
        while self.in_flight.front().is_some_and(|packet| packet.sequence <= last) {
            let Some(InFlight { sequence, mut records, spawns }) = self.in_flight.pop_front() else { return };
            if is_lost(sequence) {
                for record in &records {
                    self.want(record.slot, record.fields);
                }
            } else {
                for record in &records[..spawns] {
                    self.slots[record.slot as usize].spawned = true;
                }
            }
            records.clear();
            self.spare.push(records);
        }
    }

    /// Handles every packet in flight as acknowledged.
    pub(crate) fn acknowledge_all(&mut self) {
        self.acknowledge(self.sequence, |_| false);
    }
}
