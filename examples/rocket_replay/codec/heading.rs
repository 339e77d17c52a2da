//! Turns vectors of whole numbers from the world's axes to a car's axes and back, without rounding errors.
//!
//! A rotation of the plane is the same as three shears one after the other. A shear by a rounded amount can
//! be undone exactly: subtract what was added. So a velocity (x, y) becomes (forward, sideways), which takes
//! fewer bits, and is restored bit for bit.
//!
//! *Invariant:* `to_world` undoes `to_car` for every pair of numbers and every heading, because both shear by
//! the same rounded amounts. The code uses only IEEE additions, multiplications, divisions and roots, which
//! have the same results everywhere.

use super::grid::{Rotation, STEPS};

/// The heading of a car, as half the angle about the vertical axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heading {
    cos: f64,
    sin: f64,
}

/// A rotation of the plane as three shears.
#[derive(Clone, Copy)]
struct Shears {
    /// The tangent of half the angle, between −1 and 1.
    tangent: f64,
    sine: f64,
    /// Whether the vector is turned by half a turn before the shears.
    reversed: bool,
}

impl Heading {
    /// Returns the heading of a rotation. For an upright rotation it depends only on the third component,
    /// which the reader knows before the others.
    pub(super) fn of(rotation: Rotation) -> Self {
        let [_, b, c] =
            rotation.others.map(|step| step as f64 / f64::from(STEPS / 2) * std::f64::consts::FRAC_1_SQRT_2);
        let (z, w) = match rotation.largest {
            0 | 1 => (b, c),
            2 => ((1.0 - c * c).sqrt(), c),
            _ => (c, (1.0 - c * c).sqrt()),
        };
        let length = (z * z + w * w).sqrt();
        if length > 0.0 { Self { cos: w / length, sin: z / length } } else { Self { cos: 1.0, sin: 0.0 } }
    }

    /// Returns a horizontal vector of the world as (forward, sideways).
    pub(super) fn to_car(self, vector: [i64; 2]) -> [i64; 2] {
        self.full_turn().there(vector)
    }

    /// Computes the inverse of [`to_car`](Self::to_car).
    pub(super) fn to_world(self, vector: [i64; 2]) -> [i64; 2] {
        self.full_turn().back(vector)
    }

    /// Returns the first two components of an upright rotation as (roll, pitch). They turn by half the angle
    /// of the heading, as all components of a quaternion do.
    pub(super) fn tilt_to_car(self, tilt: [i64; 2]) -> [i64; 2] {
        self.half_turn().there(tilt)
    }

    /// Computes the inverse of [`tilt_to_car`](Self::tilt_to_car).
    pub(super) fn tilt_to_world(self, tilt: [i64; 2]) -> [i64; 2] {
        self.half_turn().back(tilt)
    }

    fn half_turn(self) -> Shears {
        let reversed = self.cos < 0.0;
        let (cos, sin) = if reversed { (-self.cos, -self.sin) } else { (self.cos, self.sin) };
        Shears { tangent: sin / (1.0 + cos), sine: sin, reversed }
    }

    fn full_turn(self) -> Shears {
        // If half the angle is changed by a quarter turn, the whole angle changes by half a turn. `reversed`
        // undoes this half turn.
        let reversed = self.sin.abs() > self.cos.abs();
        let (cos, sin) = if reversed { (self.sin, -self.cos) } else { (self.cos, self.sin) };
        Shears { tangent: sin / cos, sine: 2.0 * sin * cos, reversed }
    }
}

impl Shears {
    fn there(self, [x, y]: [i64; 2]) -> [i64; 2] {
        let [x, y] = if self.reversed { [-x, -y] } else { [x, y] };
        let x = x + shear(self.tangent, y);
        let y = y - shear(self.sine, x);
        [x + shear(self.tangent, y), y]
    }

    fn back(self, [x, y]: [i64; 2]) -> [i64; 2] {
        let x = x - shear(self.tangent, y);
        let y = y + shear(self.sine, x);
        let x = x - shear(self.tangent, y);
        if self.reversed { [-x, -y] } else { [x, y] }
    }
}

/// Returns the amount that a shear adds to the other coordinate. The numbers have at most 25 bits, so nothing
/// overflows.
fn shear(slope: f64, number: i64) -> i64 {
    (slope * number as f64).round() as i64
}
