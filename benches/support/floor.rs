//! The candidate that does the least possible work: it encodes the changes of a tick only once, sends the
//! same bytes to every connection, and stores no state for a connection.
//!
//! *Invariant:* the body of a packet is the same for all connections. Only the eight bytes before the body
//! differ.

use crate::bits::{BitWriter, PACKET_BYTES};
use crate::hand::World;
use crate::wire;

/// The bodies of one tick, and the packet into which they are copied.
pub(crate) struct Floor {
    /// The encoded packets one after another, each with room for its header.
    bytes: Vec<u8>,
    /// For each packet, the index in `bytes` at which it ends, exclusive.
    ends: Vec<usize>,
    packet: Box<[u8; PACKET_BYTES]>,
}

impl Floor {
    pub(crate) fn new() -> Self {
        Self { bytes: Vec::new(), ends: Vec::new(), packet: Box::new([0; PACKET_BYTES]) }
    }

    /// Encodes every change of the world.
    pub(crate) fn encode_changes(&mut self, world: &World, writer: &mut BitWriter) {
        self.clear();
        let bits = wire::slot_bits(world.players.len());
        writer.clear();
        for (slot, fields) in world.changes() {
            if writer.byte_len() > PACKET_BYTES - wire::RECORD_BYTES {
                self.close(writer, 0);
            }
            if writer.byte_len() == 0 {
                wire::write_header(writer, 0);
            }
            wire::write_change(writer, slot, bits, fields, &world.players[slot as usize]);
        }
        self.close(writer, 0);
    }

    /// Encodes all fields of every player.
    pub(crate) fn encode_spawns(&mut self, world: &World, writer: &mut BitWriter) {
        self.clear();
        let bits = wire::slot_bits(world.players.len());
        writer.clear();
        let (mut previous, mut spawns) = (None, 0);
        for (slot, player) in (0..).zip(&world.players) {
            if writer.byte_len() > PACKET_BYTES - wire::RECORD_BYTES {
                self.close(writer, spawns);
                (previous, spawns) = (None, 0);
            }
            if writer.byte_len() == 0 {
                wire::write_header(writer, 0);
            }
            wire::write_spawn(writer, slot, bits, previous, player);
            (previous, spawns) = (Some(slot), spawns + 1);
        }
        self.close(writer, spawns);
    }

    /// Copies the encoded bodies into packets for one connection. The first packet gets this sequence number.
    /// Returns the number after the last packet.
    pub(crate) fn send(&mut self, mut sequence: u64, mut transmit: impl FnMut(&[u8])) -> u64 {
        let mut start = 0;
        for end in &self.ends {
            let body = &self.bytes[start..*end];
            let packet = &mut self.packet[..body.len()];
            packet.copy_from_slice(body);
            packet[..2].copy_from_slice(&(sequence as u16).to_le_bytes());
            transmit(packet);
            (start, sequence) = (*end, sequence + 1);
        }
        sequence
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    fn close(&mut self, writer: &mut BitWriter, spawns: u16) {
        let packet = writer.finish();
        if packet.is_empty() {
            return;
        }
        wire::patch_spawns(packet, spawns);
        self.bytes.extend_from_slice(packet);
        self.ends.push(self.bytes.len());
        writer.clear();
    }
}
