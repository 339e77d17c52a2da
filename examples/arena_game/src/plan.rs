//! Chooses where a player runs: the rule that the bots of the server and the pilots of the clients share.
//!
//! *Invariant:* the rule depends only on objects that its caller sees.

use repl::sim::Rng;

use crate::plane::{Vec2, along, anywhere, distance, inside, toward};

/// The greatest distance at which a player shoots.
pub const FIRE_RANGE: f32 = 18.0;

/// Returns the point to which a player runs: the nearest pickup or turret if it is close, else the target
/// unless it is already close, else a random point. The arguments after `here` are the nearest pickup, turret
/// and target.
pub fn goal(
    here: Vec2,
    target: Option<Vec2>,
    pickup: Option<Vec2>,
    turret: Option<Vec2>,
    rng: &mut Rng,
) -> Vec2 {
    let is_near = |point: &Vec2| distance(here, *point) < 12.0;
    let nearby = pickup.filter(is_near).or(turret.filter(is_near));
    nearby
        .or(target.filter(|&target| distance(here, target) > 8.0))
        .unwrap_or_else(|| inside(along(here, toward(here, anywhere(rng)), 6.0)))
}

/// Returns the candidate that is nearest to a point, with its position.
pub fn nearest<T>(here: Vec2, candidates: impl Iterator<Item = (T, Vec2)>) -> Option<(T, Vec2)> {
    candidates.min_by(|one, other| distance(here, one.1).total_cmp(&distance(here, other.1)))
}
