//! The client of the hand-written encoder.
//!
//! *Invariant:* each value of the client comes from the newest received packet that contained the value.

use crate::bits::BitReader;
use crate::player::Player;
use crate::wire;

/// A client's copy of the world.
pub(crate) struct Mirror {
    pub(crate) players: Vec<Option<Player>>,
    newest: Option<u16>,
}

impl Mirror {
    /// Returns a client that has none of `players` players.
    pub(crate) fn new(players: usize) -> Self {
        Self { players: vec![None; players], newest: None }
    }

    /// Returns whether the client has exactly these players.
    pub(crate) fn equals(&self, players: &[Player]) -> bool {
        self.players.iter().map(Option::as_ref).eq(players.iter().map(Some))
    }

    /// Applies a packet. Returns false for a packet that is older than an applied one: it is stale, is not
    /// applied, and must not be acknowledged.
    pub(crate) fn receive(&mut self, packet: &[u8]) -> bool {
        let mut bits = BitReader::new(packet);
        let sequence = bits.read(16) as u16;
        if self.newest.is_some_and(|newest| (sequence.wrapping_sub(newest) as i16) <= 0) {
            return false;
        }
        self.newest = Some(sequence);
        bits.read(32);
        let slot_bits = wire::slot_bits(self.players.len());
        let mut slot = 0;
        for _ in 0..bits.read(16) {
            slot = if bits.read(1) == 1 { slot + 1 } else { bits.read(slot_bits) as usize };
            wire::read_fields(&mut bits, wire::ALL, self.players[slot].insert(Player::default()));
        }
        while bits.remaining() >= 8 {
            let slot = bits.read(slot_bits) as usize;
            let fields = bits.read(wire::FIELDS) as wire::Mask;
            let player = self.players[slot].as_mut().expect("a spawn comes before a change");
            wire::read_fields(&mut bits, fields, player);
        }
        let rest = bits.remaining() as u32;
        assert!(rest == 0 || bits.read(rest) == 0, "a packet ends with zeros");
        true
    }
}
