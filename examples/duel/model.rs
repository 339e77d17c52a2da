//! What both sides share: the class of the fighters, the input of a player, and the step that moves a
//! fighter.
//!
//! *Invariant:* a step depends only on the body and the input, so a client predicts what the server will do.

use repl::prelude::*;

/// How many ticks a second has, on both sides.
pub(crate) const HZ: u32 = 60;

/// The radius of a fighter, in metres.
pub(crate) const RADIUS: f32 = 0.5;

/// The fastest speed, in metres a second.
const SPEED: f32 = 6.0;

/// How fast the velocity approaches the input: the share of the difference that is made up in each tick.
const AGILITY: f32 = 0.15;

/// Half of the length of each side of the arena, in metres.
pub(crate) const HALF_SIDE: f32 = 20.0;

/// The position of a fighter, and its velocity in metres a second.
#[derive(NetSerialize, Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Body {
    pub(crate) position: [f32; 2],
    pub(crate) velocity: [f32; 2],
}

/// What a player does in a tick.
#[derive(Replicated, Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Steer {
    /// How fast the player walks on each axis: from -100 to 100 percent of the speed.
    #[replicated]
    pub(crate) walk: [i8; 2],
    /// The direction in which the player aims, in 65,536ths of a turn.
    #[replicated]
    pub(crate) aim: u16,
    /// The fighter at which the player shoots. The shot may miss.
    #[replicated]
    pub(crate) target: ObjectRef<Fighter>,
    /// The tick that the player sees when shooting.
    #[replicated]
    pub(crate) shown: ShownTick,
}

#[derive(Replicated, Debug, Default)]
pub(crate) struct Fighter {
    /// The owner compares this with the state that it predicted.
    #[replicated(condition = OwnerOnly)]
    pub(crate) confirmed: Confirmed<Body>,
    /// The other players show this position.
    #[replicated(condition = SkipOwner)]
    pub(crate) position: [f32; 2],
}

impl Body {
    pub(crate) fn step(&mut self, steer: &Steer) {
        for ((position, velocity), walk) in self.position.iter_mut().zip(&mut self.velocity).zip(steer.walk) {
            *velocity += (f32::from(walk) / 100.0 * SPEED - *velocity) * AGILITY;
            *position = (*position + *velocity / HZ as f32).clamp(-HALF_SIDE, HALF_SIDE);
        }
    }
}

/// Returns the direction from one position to another, in 65,536ths of a turn.
pub(crate) fn direction([x, y]: [f32; 2], [to_x, to_y]: [f32; 2]) -> u16 {
    let turn = (to_y - y).atan2(to_x - x) / std::f32::consts::TAU;
    (turn.rem_euclid(1.0) * 65_536.0) as u32 as u16
}

/// Returns whether a shot from the first position in the direction `aim` hits a fighter at the second
/// position.
pub(crate) fn hits([x, y]: [f32; 2], aim: u16, [to_x, to_y]: [f32; 2]) -> bool {
    let (sin, cos) = ((f32::from(aim) + 0.5) / 65_536.0 * std::f32::consts::TAU).sin_cos();
    let (right, up) = (to_x - x, to_y - y);
    let (along, across) = (right * cos + up * sin, up * cos - right * sin);
    along >= 0.0 && across.abs() <= RADIUS
}

pub(crate) fn register(side: &mut impl Register) {
    side.register::<Fighter>();
    side.register_inputs_by_field::<Steer>();
}
