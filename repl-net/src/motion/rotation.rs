//! Rotations in space. Interpolation turns in the direction of the shorter way.
//!
//! *Invariant:* the quaternion of a rotation has the length 1, whatever numbers it was made from.

use super::interpolate::Interpolate;
use super::offset::{self, Offset};

/// A rotation in space, as a quaternion. Interpolation between two rotations turns in the direction of the
/// shorter way, at a constant speed.
///
/// ```
/// # use repl_net as repl;
/// use repl::{Interpolate, Rotation};
///
/// let (east, north) = (Rotation::default(), Rotation::new([0.0, 0.0, 1.0, 1.0]));
/// let between = east.interpolate(&north, 0.5).quaternion();
/// assert!((between[2] - 22.5_f32.to_radians().sin()).abs() < 1e-6);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rotation([f32; 4]);

impl Default for Rotation {
    fn default() -> Self {
        Self([0.0, 0.0, 0.0, 1.0])
    }
}

impl Rotation {
    /// Returns the rotation of a quaternion x, y, z, w of any length. If the length is zero or a number is
    /// not finite, returns the identity (no rotation).
    #[must_use]
    pub fn new(quaternion: [f32; 4]) -> Self {
        Self::of(quaternion.map(f64::from))
    }

    /// Returns the quaternion x, y, z, w. Its length is 1.
    #[must_use]
    pub const fn quaternion(self) -> [f32; 4] {
        self.0
    }

    fn of(quaternion: [f64; 4]) -> Self {
        let length = quaternion.iter().map(|part| part * part).sum::<f64>().sqrt();
        if length.is_normal() { Self(quaternion.map(|part| (part / length) as f32)) } else { Self::default() }
    }

    /// Returns the combined rotation: first `other`, then `self`.
    fn after(self, other: Self) -> Self {
        let ([a, b, c, w], [x, y, z, v]) = (self.0.map(f64::from), other.0.map(f64::from));
        Self::of([
            w * x + a * v + b * z - c * y,
            w * y - a * z + b * v + c * x,
            w * z + a * y - b * x + c * v,
            w * v - a * x - b * y - c * z,
        ])
    }

    const fn inverse(self) -> Self {
        let [x, y, z, w] = self.0;
        Self([-x, -y, -z, w])
    }

    /// Returns half of the angle, and a vector in the direction of the axis whose length is the sine of half
    /// the angle.
    fn half_angle(self) -> (f64, [f64; 3]) {
        let [x, y, z, w] = self.0.map(f64::from);
        let sign = if w < 0.0 { -1.0 } else { 1.0 };
        let axis = [x, y, z].map(|part| part * sign);
        let sine = axis.iter().map(|part| part * part).sum::<f64>().sqrt();
        (sine.atan2(w * sign), axis)
    }

    /// Returns the rotation about the same axis, with `share` times the angle.
    fn times(self, share: f64) -> Self {
        let (half, axis) = self.half_angle();
        let (sine, cosine) = (half * share).sin_cos();
        let whole = half.sin();
        let scale = if whole > 1e-9 { sine / whole } else { share };
        let [x, y, z] = axis.map(|part| part * scale);
        Self::of([x, y, z, cosine])
    }
}

impl Interpolate for Rotation {
    fn interpolate(&self, next: &Self, fraction: f64) -> Self {
        offset::between(self, next, fraction)
    }
}

impl Offset for Rotation {
    type By = Self;

    fn offset_from(&self, from: &Self) -> Self {
        self.after(from.inverse())
    }

    fn moved_by(&self, offset: &Self, share: f64) -> Self {
        offset.times(share).after(*self)
    }

    fn size(offset: &Self) -> f64 {
        offset.half_angle().0 * 2.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_no_rotation_rotates_nothing() {
        for quaternion in [[0.0; 4], [f32::NAN, 0.0, 0.0, 1.0], [f32::INFINITY, 0.0, 0.0, 1.0]] {
            assert_eq!(Rotation::new(quaternion), Rotation::default());
        }
    }

    fn rotation() -> impl Strategy<Value = Rotation> {
        prop::array::uniform4(-1.0_f32..1.0).prop_map(Rotation::new)
    }

    /// Returns the angle between two rotations.
    fn between(one: Rotation, other: Rotation) -> f64 {
        Rotation::size(&one.offset_from(&other))
    }

    proptest! {
        #[test]
        fn rotations_turn_evenly_and_the_short_way(from in rotation(), to in rotation(), fraction in 0.0..1.0_f64) {
            let (whole, shown) = (between(to, from), from.interpolate(&to, fraction));
            prop_assert!(whole <= std::f64::consts::PI + 1e-6);
            prop_assert!((between(shown, from) - whole * fraction).abs() < 1e-3);
            prop_assert!((between(to, shown) - whole * (1.0 - fraction)).abs() < 1e-3);
            let length = shown.quaternion().iter().map(|part| part * part).sum::<f32>();
            prop_assert!((length - 1.0).abs() < 1e-5);
        }

        #[test]
        fn a_rotation_moved_by_its_offset_is_the_other(from in rotation(), to in rotation()) {
            prop_assert!(between(from.moved_by(&to.offset_from(&from), 1.0), to) < 1e-3);
        }
    }
}
