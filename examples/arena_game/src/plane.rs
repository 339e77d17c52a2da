//! Points and directions in the plane of the arena, in metres.
//!
//! *Invariant:* if the arguments are finite, every function returns a finite value.

use repl::sim::Rng;

/// A point or a direction: x, y.
pub type Vec2 = [f32; 2];

/// The arena reaches from minus this number to plus this number in both directions.
pub const EDGE: f32 = 25.0;

/// Returns `a` plus `length` times `b`.
pub fn along(a: Vec2, b: Vec2, length: f32) -> Vec2 {
    [a[0] + b[0] * length, a[1] + b[1] * length]
}

/// Returns the distance between two points.
pub fn distance(from: Vec2, to: Vec2) -> f32 {
    (to[0] - from[0]).hypot(to[1] - from[1])
}

/// Returns the direction from one point to the other, of length one; if they are equal, to the right.
pub fn toward(from: Vec2, to: Vec2) -> Vec2 {
    let far = distance(from, to);
    if far < 1e-3 { [1.0, 0.0] } else { [(to[0] - from[0]) / far, (to[1] - from[1]) / far] }
}

/// Returns a direction in degrees, 0 to 360.
pub fn degrees(direction: Vec2) -> f32 {
    direction[1].atan2(direction[0]).to_degrees().rem_euclid(360.0)
}

/// Returns the nearest point in the arena.
pub fn inside(point: Vec2) -> Vec2 {
    point.map(|coordinate| coordinate.clamp(-EDGE, EDGE))
}

/// Returns a random point of the arena.
pub fn anywhere(rng: &mut Rng) -> Vec2 {
    std::array::from_fn(|_| (rng.unit() as f32 * 2.0 - 1.0) * EDGE)
}
