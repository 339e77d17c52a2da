//! The objects that every candidate replicates, and their values at the start.
//!
//! *Invariant:* two players with the same index are equal, so a client's copy can be compared with the
//! server's.

use repl::Replicated;

/// Defines a player as a game might have it: 22 fields, with 54 bytes of numbers, eight flags and a name.
/// `$option` is an attribute of all fields.
macro_rules! player {
    ($(#[$meta:meta])* $name:ident $(, $option:ident)?) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, Replicated)]
        pub(crate) struct $name {
            #[replicated $(($option))?]
            pub(crate) id: u32,
            #[replicated $(($option))?]
            pub(crate) owner: u32,
            #[replicated $(($option))?]
            pub(crate) target: u32,
            /// In radians.
            #[replicated $(($option))?]
            pub(crate) yaw: f32,
            /// In metres.
            #[replicated $(($option))?]
            pub(crate) position: [f32; 3],
            /// In metres per second.
            #[replicated $(($option))?]
            pub(crate) velocity: [f32; 3],
            #[replicated $(($option))?]
            pub(crate) health: u16,
            #[replicated $(($option))?]
            pub(crate) max_health: u16,
            #[replicated $(($option))?]
            pub(crate) ammo: u16,
            #[replicated $(($option))?]
            pub(crate) armour: u8,
            #[replicated $(($option))?]
            pub(crate) team: u8,
            #[replicated $(($option))?]
            pub(crate) state: u8,
            #[replicated $(($option))?]
            pub(crate) alive: bool,
            #[replicated $(($option))?]
            pub(crate) crouching: bool,
            #[replicated $(($option))?]
            pub(crate) sprinting: bool,
            #[replicated $(($option))?]
            pub(crate) aiming: bool,
            #[replicated $(($option))?]
            pub(crate) reloading: bool,
            #[replicated $(($option))?]
            pub(crate) swimming: bool,
            #[replicated $(($option))?]
            pub(crate) burning: bool,
            #[replicated $(($option))?]
            pub(crate) invisible: bool,
            #[replicated $(($option))?]
            pub(crate) score: i32,
            /// The name has 12 characters in these benches.
            #[replicated(max_len = 31 $(, $option)?)]
            pub(crate) name: String,
        }

        impl $name {
            /// Returns the player that slot `index` has at the start. No field has its default value, because
            /// a spawn could omit a default value.
            /// otherwise a spawn could leave it out.
            #[allow(dead_code, reason = "not every bench marks fields")]
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
    };
}

player! {
    /// A player. Every field is compared.
    Player
}

player! {
    /// A player with `push` fields: only marked fields are compared.
    #[allow(dead_code, reason = "not every bench marks fields")]
    MarkedPlayer, push
}
