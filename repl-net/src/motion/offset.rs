//! Offsets: the difference between two values, of which a fraction can be added to a value.
//!
//! *Invariant:* the offset from a first value to a second value, added to the first value, results in the
//! second value, except for rounding.

use super::interpolate::Interpolate;

/// A type whose values can be moved towards another value or beyond it: positions, angles, rotations.
///
/// ```
/// # use repl_net as repl;
/// use repl::{Angle, Offset};
///
/// let (from, to) = (Angle::from_degrees(350.0), Angle::from_degrees(20.0));
/// let offset = to.offset_from(&from);
/// assert!((Angle::size(&offset).to_degrees() - 30.0).abs() < 0.001);
/// assert!((from.moved_by(&offset, 2.0).degrees() - 50.0).abs() < 0.001);
/// ```
pub trait Offset: Interpolate + Clone {
    /// The type of an offset, which is the difference between two values.
    type By: Clone;

    /// Returns the offset from `from` to this value.
    #[must_use]
    fn offset_from(&self, from: &Self) -> Self::By;

    /// Returns this value, moved by the product of `share` and `offset`.
    #[must_use]
    fn moved_by(&self, offset: &Self::By, share: f64) -> Self;

    /// Returns the length of an offset, in the units of the value. For angles and rotations, this is in
    /// radians.
    #[must_use]
    fn size(offset: &Self::By) -> f64;
}

/// Interpolates between two values. The results for the fractions 0 and 1 are exact.
pub(super) fn between<T: Offset>(from: &T, to: &T, fraction: f64) -> T {
    if fraction >= 1.0 {
        to.clone()
    } else if fraction > 0.0 {
        from.moved_by(&to.offset_from(from), fraction)
    } else {
        from.clone()
    }
}

impl Offset for f64 {
    type By = Self;

    fn offset_from(&self, from: &Self) -> Self {
        self - from
    }

    fn moved_by(&self, offset: &Self, share: f64) -> Self {
        self + offset * share
    }

    fn size(offset: &Self) -> f64 {
        offset.abs()
    }
}

impl Offset for f32 {
    type By = Self;

    fn offset_from(&self, from: &Self) -> Self {
        self - from
    }

    fn moved_by(&self, offset: &Self, share: f64) -> Self {
        (f64::from(*self) + f64::from(*offset) * share) as Self
    }

    fn size(offset: &Self) -> f64 {
        f64::from(offset.abs())
    }
}

impl<T: Offset, const N: usize> Offset for [T; N] {
    type By = [T::By; N];

    fn offset_from(&self, from: &Self) -> Self::By {
        let mut from = from.iter();
        self.each_ref().map(|value| value.offset_from(from.next().unwrap_or(value)))
    }

    fn moved_by(&self, offset: &Self::By, share: f64) -> Self {
        let mut offsets = offset.each_ref().into_iter();
        // There is one offset for each value of the array.
        self.each_ref().map(|value| match offsets.next() {
            Some(offset) => value.moved_by(offset, share),
            None => value.clone(),
        })
    }

    fn size(offset: &Self::By) -> f64 {
        offset.iter().map(|offset| T::size(offset).powi(2)).sum::<f64>().sqrt()
    }
}
