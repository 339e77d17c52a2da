//! Angles. Interpolation turns in the direction of the shorter way.
//!
//! *Invariant:* an angle is from -π to π.

use super::interpolate::Interpolate;
use super::offset::{self, Offset};

const TURN: f64 = std::f64::consts::TAU;

/// An angle in radians, from -π to π. Interpolation between two angles turns in the direction of the
/// shorter way.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Angle(f32);

impl Angle {
    /// Returns an angle after adding or subtracting whole turns. A value that is not finite becomes 0.
    #[must_use]
    pub fn from_radians(radians: f32) -> Self {
        Self::of(radians.into())
    }

    /// Returns an angle from degrees.
    #[must_use]
    pub fn from_degrees(degrees: f32) -> Self {
        Self::of(f64::from(degrees).to_radians())
    }

    /// Returns the angle in radians, from -π to π.
    #[must_use]
    pub const fn radians(self) -> f32 {
        self.0
    }

    /// Returns the angle in degrees, from -180 to 180.
    #[must_use]
    pub const fn degrees(self) -> f32 {
        self.0.to_degrees()
    }

    fn of(radians: f64) -> Self {
        let turns = (radians / TURN).round();
        let rest = radians - turns * TURN;
        Self(if rest.is_finite() { rest as f32 } else { 0.0 })
    }
}

impl Interpolate for Angle {
    fn interpolate(&self, next: &Self, fraction: f64) -> Self {
        offset::between(self, next, fraction)
    }
}

impl Offset for Angle {
    type By = Self;

    fn offset_from(&self, from: &Self) -> Self {
        Self::of(f64::from(self.0) - f64::from(from.0))
    }

    fn moved_by(&self, offset: &Self, share: f64) -> Self {
        Self::of(f64::from(self.0) + f64::from(offset.0) * share)
    }

    fn size(offset: &Self) -> f64 {
        f64::from(offset.0.abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_turn_the_short_way() {
        let (from, to) = (Angle::from_degrees(170.0), Angle::from_degrees(-170.0));
        assert!((from.interpolate(&to, 0.25).degrees() - 175.0).abs() < 1e-3);
        assert!((from.interpolate(&to, 0.75).degrees() + 175.0).abs() < 1e-3);
        assert_eq!((from.interpolate(&to, -1.0), from.interpolate(&to, 1.0)), (from, to));
        assert_eq!(Angle::from_radians(f32::NAN), Angle::default());
        assert!((Angle::from_degrees(730.0).degrees() - 10.0).abs() < 1e-3);
    }
}
