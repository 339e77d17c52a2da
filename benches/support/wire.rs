//! The wire format of the hand-written encoder: the spawn of one player, and the changes of one player.
//!
//! A packet has the sequence, the acknowledged sequence, the acknowledged bits and the number of spawns (16
//! bits each). Then come the spawns, and then changes until fewer than eight bits are left. A spawn begins
//! with one bit if its slot follows the last one, otherwise with the slot. All fields of the player follow. A
//! change has the slot, a mask of fields, and the values of these fields without compression.
//!
//! *Invariant:* no record is longer than [`RECORD_BYTES`].

use crate::bits::{BitReader, BitWriter};
use crate::player::Player;

/// A set of fields. The eight flags count as one field.
pub(crate) type Mask = u16;

/// How many fields a mask has.
pub(crate) const FIELDS: u32 = 15;
/// Every field.
pub(crate) const ALL: Mask = (1 << FIELDS) - 1;

const ID: Mask = 1 << 0;
const OWNER: Mask = 1 << 1;
const TARGET: Mask = 1 << 2;
pub(crate) const YAW: Mask = 1 << 3;
pub(crate) const POSITION: Mask = 1 << 4;
const VELOCITY: Mask = 1 << 5;
pub(crate) const HEALTH: Mask = 1 << 6;
const MAX_HEALTH: Mask = 1 << 7;
const AMMO: Mask = 1 << 8;
const ARMOUR: Mask = 1 << 9;
const TEAM: Mask = 1 << 10;
const STATE: Mask = 1 << 11;
const FLAGS: Mask = 1 << 12;
const SCORE: Mask = 1 << 13;
const NAME: Mask = 1 << 14;

/// The most bytes of a spawn or change: slot, mask, 54 bytes of numbers, and a name of 31 bytes with its
/// length.
pub(crate) const RECORD_BYTES: usize = (32 + 15 + 54 * 8 + 31 * 8 + 5_usize).div_ceil(8);

/// Writes the header of a packet, before the number of spawns is known.
pub(crate) fn write_header(bits: &mut BitWriter, sequence: u64) {
    bits.write(sequence & 0xffff, 16);
    // The clients of this baseline send nothing that needs an acknowledgement, but the packet has room for
    // acknowledgements.
    bits.write(0, 48);
}

/// Writes the last field of the header.
pub(crate) fn patch_spawns(packet: &mut [u8], spawns: u16) {
    packet[6..8].copy_from_slice(&spawns.to_le_bytes());
}

/// Returns the bits of a slot among `count`.
pub(crate) fn slot_bits(count: usize) -> u32 {
    usize::BITS - count.saturating_sub(1).max(1).leading_zeros()
}

/// Writes a whole player. `previous` is the last slot spawned in this packet.
#[inline]
pub(crate) fn write_spawn(
    bits: &mut BitWriter,
    slot: u32,
    slot_bits: u32,
    previous: Option<u32>,
    player: &Player,
) {
    if previous.is_some_and(|previous| previous + 1 == slot) {
        bits.write(1, 1);
    } else {
        bits.write(0, 1);
        bits.write(u64::from(slot), slot_bits);
    }
    write_fields(bits, ALL, player);
}

/// Writes the fields in `mask` of a player that the client has already.
#[inline]
pub(crate) fn write_change(bits: &mut BitWriter, slot: u32, slot_bits: u32, mask: Mask, player: &Player) {
    bits.write(u64::from(slot) | u64::from(mask) << slot_bits, slot_bits + FIELDS);
    write_fields(bits, mask, player);
}

// This is a chain of branches that the processor predicts well. A loop with a jump table would load every
// field before it looks at the mask.
#[inline]
fn write_fields(bits: &mut BitWriter, mask: Mask, player: &Player) {
    let mut field = |field: Mask, value: u64, width: u32| {
        if mask & field != 0 {
            bits.write(value, width);
        }
    };
    field(ID, player.id.into(), 32);
    field(OWNER, player.owner.into(), 32);
    field(TARGET, player.target.into(), 32);
    field(YAW, player.yaw.to_bits().into(), 32);
    for part in player.position {
        field(POSITION, part.to_bits().into(), 32);
    }
    for part in player.velocity {
        field(VELOCITY, part.to_bits().into(), 32);
    }
    field(HEALTH, player.health.into(), 16);
    field(MAX_HEALTH, player.max_health.into(), 16);
    field(AMMO, player.ammo.into(), 16);
    field(ARMOUR, player.armour.into(), 8);
    field(TEAM, player.team.into(), 8);
    field(STATE, player.state.into(), 8);
    if mask & FLAGS != 0 {
        bits.write(flags(player), 8);
    }
    if mask & SCORE != 0 {
        bits.write(player.score.cast_unsigned().into(), 32);
    }
    if mask & NAME != 0 {
        bits.write(player.name.len() as u64, 5);
        bits.write_bytes(player.name.as_bytes());
    }
}

fn flags(player: &Player) -> u64 {
    let flags = [
        player.alive,
        player.crouching,
        player.sprinting,
        player.aiming,
        player.reloading,
        player.swimming,
        player.burning,
        player.invisible,
    ];
    flags.into_iter().enumerate().fold(0, |bits, (at, flag)| bits | u64::from(flag) << at)
}

/// Reads the fields that [`write_fields`] wrote.
#[inline]
pub(crate) fn read_fields(bits: &mut BitReader<'_>, mask: Mask, player: &mut Player) {
    let has = |field: Mask| mask & field != 0;
    if has(ID) {
        player.id = bits.read(32) as u32;
    }
    if has(OWNER) {
        player.owner = bits.read(32) as u32;
    }
    if has(TARGET) {
        player.target = bits.read(32) as u32;
    }
    if has(YAW) {
        player.yaw = read_float(bits);
    }
    if has(POSITION) {
        player.position = [(); 3].map(|()| read_float(bits));
    }
    if has(VELOCITY) {
        player.velocity = [(); 3].map(|()| read_float(bits));
    }
    if has(HEALTH) {
        player.health = bits.read(16) as u16;
    }
    if has(MAX_HEALTH) {
        player.max_health = bits.read(16) as u16;
    }
    if has(AMMO) {
        player.ammo = bits.read(16) as u16;
    }
    if has(ARMOUR) {
        player.armour = bits.read(8) as u8;
    }
    if has(TEAM) {
        player.team = bits.read(8) as u8;
    }
    if has(STATE) {
        player.state = bits.read(8) as u8;
    }
    if has(FLAGS) {
        read_flags(bits, player);
    }
    if has(SCORE) {
        player.score = (bits.read(32) as u32).cast_signed();
    }
    if has(NAME) {
        let len = bits.read(5) as usize;
        let mut bytes = vec![0; len];
        for chunk in bytes.chunks_mut(4) {
            let word = bits.read(chunk.len() as u32 * 8) as u32;
            chunk.copy_from_slice(&word.to_le_bytes()[..chunk.len()]);
        }
        player.name = String::from_utf8(bytes).expect("names are UTF-8");
    }
}

fn read_float(bits: &mut BitReader<'_>) -> f32 {
    f32::from_bits(bits.read(32) as u32)
}

fn read_flags(bits: &mut BitReader<'_>, player: &mut Player) {
    let mut flags = bits.read(8);
    let mut flag = || {
        let flag = flags & 1 == 1;
        flags >>= 1;
        flag
    };
    player.alive = flag();
    player.crouching = flag();
    player.sprinting = flag();
    player.aiming = flag();
    player.reloading = flag();
    player.swimming = flag();
    player.burning = flag();
    player.invisible = flag();
}
