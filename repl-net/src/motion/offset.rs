//! What leads from one value to another, and a part of it.
//!
//! *Invariant:* a value moved by its whole offset from another one is the first value, but for rounding.

use super::interpolate::Interpolate;

/// A type of values of which one can be moved towards another, or beyond: positions, angles, rotations.
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
    /// What leads from one value to another.
    type By: Clone;

    /// Returns what leads from `from` to this value.
    #[must_use]
    fn offset_from(&self, from: &Self) -> Self::By;

    /// Returns this value, moved by `share` times an offset.
    #[must_use]
    fn moved_by(&self, offset: &Self::By, share: f64) -> Self;

    /// Returns how far an offset leads, in the units of the value: for angles and rotations, in radians.
    #[must_use]
    fn size(offset: &Self::By) -> f64;
}

/// Returns a value that is a part of the way from one value to another. The ends are exact.
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
        // There are as many offsets as values.
        self.each_ref().map(|value| match offsets.next() {
            Some(offset) => value.moved_by(offset, share),
            None => value.clone(),
        })
    }

    fn size(offset: &Self::By) -> f64 {
        offset.iter().map(|offset| T::size(offset).powi(2)).sum::<f64>().sqrt()
    }
}
