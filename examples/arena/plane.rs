//! Points and directions in the plane of the arena, in metres.
//!
//! *Invariant:* no function makes a value that is not finite out of finite ones.

use repl::sim::Rng;

/// A point or a direction: x, y.
pub(crate) type Vec2 = [f32; 2];

/// The arena reaches from minus to plus this.
pub(crate) const EDGE: f32 = 25.0;

/// `a` and, from there, `length` times `b`.
pub(crate) fn along(a: Vec2, b: Vec2, length: f32) -> Vec2 {
    [a[0] + b[0] * length, a[1] + b[1] * length]
}

/// How far it is from one to the other.
pub(crate) fn distance(from: Vec2, to: Vec2) -> f32 {
    (to[0] - from[0]).hypot(to[1] - from[1])
}

/// The direction from one to the other, of length one; to the right if they are the same.
pub(crate) fn toward(from: Vec2, to: Vec2) -> Vec2 {
    let far = distance(from, to);
    if far < 1e-3 { [1.0, 0.0] } else { [(to[0] - from[0]) / far, (to[1] - from[1]) / far] }
}

/// A direction in degrees, 0 to 360.
pub(crate) fn degrees(direction: Vec2) -> f32 {
    direction[1].atan2(direction[0]).to_degrees().rem_euclid(360.0)
}

/// The nearest point of the arena.
pub(crate) fn inside(point: Vec2) -> Vec2 {
    point.map(|coordinate| coordinate.clamp(-EDGE, EDGE))
}

/// A random point of the arena.
pub(crate) fn anywhere(rng: &mut Rng) -> Vec2 {
    std::array::from_fn(|_| (rng.unit() as f32 * 2.0 - 1.0) * EDGE)
}
