//! The object that every candidate replicates, and its values at the start.
//!
//! *Invariant:* two players with the same index are equal, so a client's copy can be compared with the
//! server's.

use repl::Replicated;

/// A player as a game might have it: 22 fields, with 54 bytes of numbers, eight flags and a name.
#[derive(Clone, Debug, Default, PartialEq, Replicated)]
#[replicated(all)]
pub(crate) struct Player {
    pub(crate) id: u32,
    pub(crate) owner: u32,
    pub(crate) target: u32,
    /// In radians.
    pub(crate) yaw: f32,
    /// In metres.
    pub(crate) position: [f32; 3],
    /// In metres per second.
    pub(crate) velocity: [f32; 3],
    pub(crate) health: u16,
    pub(crate) max_health: u16,
    pub(crate) ammo: u16,
    pub(crate) armour: u8,
    pub(crate) team: u8,
    pub(crate) state: u8,
    pub(crate) alive: bool,
    pub(crate) crouching: bool,
    pub(crate) sprinting: bool,
    pub(crate) aiming: bool,
    pub(crate) reloading: bool,
    pub(crate) swimming: bool,
    pub(crate) burning: bool,
    pub(crate) invisible: bool,
    pub(crate) score: i32,
    /// The name has 12 characters in these benches.
    #[replicated(max_len = 31)]
    pub(crate) name: String,
}

impl Player {
    /// Returns the player that slot `index` has at the start. No field has its default value, because
    /// otherwise a spawn could leave it out.
    pub(crate) fn nth(index: u32) -> Self {
        let place = index as f32 + 0.5;
        Self {
            id: 0x0100_0000 + index,
            owner: 0x0200_0000 + index / 4,
            target: 0x0300_0000 + index.wrapping_mul(7),
            yaw: place * 0.001,
            position: [place, place * 0.5, -place],
            velocity: [1.0 + place * 0.01, 2.0, -3.0],
            health: 100,
            max_health: 200,
            ammo: 30 + (index % 7) as u16,
            armour: 50,
            team: 1 + (index % 4) as u8,
            state: 3,
            alive: true,
            crouching: true,
            sprinting: true,
            aiming: true,
            reloading: true,
            swimming: true,
            burning: true,
            invisible: true,
            score: -5 - index as i32,
            name: format!("player-{:05}", index % 100_000),
        }
    }
}
