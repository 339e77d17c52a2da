//! Interpolation: computes values between two values.
//!
//! *Invariant:* between two finite numbers, every result of `interpolate` is finite and within the range of
//! both.

/// A type whose values can be interpolated. A struct can derive this trait if all its fields implement it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no values between two values",
    note = "derive `Interpolate` for it, or implement it by hand",
    note = "a field of a struct that derives `Interpolate` can have `#[interpolate(step)]`: it then keeps its value until the next one is reached"
)]
pub trait Interpolate {
    /// Returns a value between this value and `next`. For the `fraction` 0 the result is this value, and for
    /// 1 it is `next`. For numbers, a `fraction` outside the range from 0 to 1 is clamped to it. Between two
    /// finite numbers, the result is finite, and moves only towards `next` while the `fraction` grows.
    #[must_use]
    fn interpolate(&self, next: &Self, fraction: f64) -> Self;

    /// Does the same as [`interpolate`](Self::interpolate). `ticks` is the number of ticks between the two
    /// values. The default implementation ignores `ticks`.
    #[must_use]
    fn interpolate_over(&self, next: &Self, fraction: f64, ticks: f64) -> Self
    where
        Self: Sized,
    {
        let _ = ticks;
        self.interpolate(next, fraction)
    }
}

impl Interpolate for f32 {
    fn interpolate(&self, next: &Self, fraction: f64) -> Self {
        f64::from(*self).interpolate(&f64::from(*next), fraction) as Self
    }
}

impl Interpolate for f64 {
    fn interpolate(&self, next: &Self, fraction: f64) -> Self {
        let (from, to) = (*self, *next);
        if fraction >= 1.0 {
            to
        } else if fraction > 0.0 {
            between(from, to, fraction)
        } else {
            from
        }
    }
}

/// Interpolates between two finite numbers. The `fraction` is greater than 0 and less than 1.
fn between(from: f64, to: f64, fraction: f64) -> f64 {
    if (from < 0.0) != (to < 0.0) {
        // The difference of numbers with different signs can be infinite. This sum lies between the two
        // numbers, because it adds a part of each.
        return from * (1.0 - fraction) + to * fraction;
    }
    // This sum never exceeds `to`: the fraction is less than 1, so the rounded product is at most the exact
    // difference.
    from + (to - from) * fraction
}

impl<T: Interpolate, const N: usize> Interpolate for [T; N] {
    fn interpolate(&self, next: &Self, fraction: f64) -> Self {
        let mut next = next.iter();
        self.each_ref().map(|value| value.interpolate(next.next().unwrap_or(value), fraction))
    }

    fn interpolate_over(&self, next: &Self, fraction: f64, ticks: f64) -> Self {
        let mut next = next.iter();
        self.each_ref().map(|value| value.interpolate_over(next.next().unwrap_or(value), fraction, ticks))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Finite numbers whose differences overflow, underflow, or lose digits.
    const EXTREMES: [f64; 15] = [
        f64::MIN,
        -1e308,
        -1.0,
        -f64::MIN_POSITIVE,
        -5e-324,
        -0.0,
        0.0,
        5e-324,
        f64::MIN_POSITIVE,
        1e-30,
        0.1,
        1.0,
        1.0 + f64::EPSILON,
        1e308,
        f64::MAX,
    ];

    /// Fractions from 0 to 1, including both ends and the nearest numbers to them.
    fn fractions() -> Vec<f64> {
        let near_the_ends = [0.0, 5e-324, f64::EPSILON, 1.0 - f64::EPSILON, 1.0 - f64::EPSILON / 2.0, 1.0];
        let mut fractions: Vec<f64> =
            (1..100).map(|part| f64::from(part) / 100.0).chain(near_the_ends).collect();
        fractions.sort_by(f64::total_cmp);
        fractions
    }

    /// Checks the interpolation between two finite values. The values at both ends are exact. Each value is
    /// at its fraction of the way. No value moves backwards or leaves the range.
    fn check_the_way(from: f64, to: f64, at: impl Fn(f64) -> f64) {
        let same = |a: f64, b: f64| a.to_bits() == b.to_bits();
        assert!(same(at(0.0), from) && same(at(1.0), to), "{from} to {to}: {} to {}", at(0.0), at(1.0));
        let mut last = from;
        for fraction in fractions() {
            let value = at(fraction);
            let is_on_the_way =
                if from <= to { last <= value && value <= to } else { last >= value && value >= to };
            assert!(is_on_the_way, "{from} to {to} at {fraction}: {value} after {last}");
            let expected = from * (1.0 - fraction) + to * fraction;
            // This allows for the rounding errors of an `f32`.
            let tolerance = from.abs().max(to.abs()) * f64::from(f32::EPSILON) + f64::from(f32::MIN_POSITIVE);
            assert!(
                (value - expected).abs() <= tolerance,
                "{from} to {to} at {fraction}: {value}, not {expected}"
            );
            last = value;
        }
    }

    #[test]
    fn every_finite_pair_is_exact_at_its_ends_and_never_leaves_the_way() {
        for from in EXTREMES {
            for to in EXTREMES {
                check_the_way(from, to, |fraction| from.interpolate(&to, fraction));
                check_the_way(from, to, |fraction| [1.0, from].interpolate(&[2.0, to], fraction)[1]);
                let (from, to) = (from as f32, to as f32);
                if from.is_finite() && to.is_finite() {
                    check_the_way(from.into(), to.into(), |fraction| from.interpolate(&to, fraction).into());
                    let (from, to) = ([[from; 3]; 2], [[to; 3]; 2]);
                    let corner = |fraction| from.interpolate(&to, fraction)[1][2].into();
                    check_the_way(from[1][2].into(), to[1][2].into(), corner);
                }
            }
        }
    }

    #[test]
    fn nothing_is_extrapolated() {
        for fraction in [-1.0, -0.0, f64::NEG_INFINITY, f64::NAN] {
            assert_eq!(3.0_f64.interpolate(&5.0, fraction), 3.0, "{fraction}");
        }
        for fraction in [1.0 + f64::EPSILON, 2.0, f64::INFINITY] {
            assert_eq!(3.0_f32.interpolate(&5.0, fraction), 5.0, "{fraction}");
        }
    }

    proptest! {
        #[test]
        fn random_pairs_are_exact_at_their_ends_and_never_leave_the_way(
            from in any::<f64>().prop_filter("finite", |value| value.is_finite()),
            to in any::<f64>().prop_filter("finite", |value| value.is_finite()),
            small in any::<f32>().prop_filter("finite", |value| value.is_finite()),
            large in any::<f32>().prop_filter("finite", |value| value.is_finite()),
        ) {
            check_the_way(from, to, |fraction| from.interpolate(&to, fraction));
            check_the_way(small.into(), large.into(), |fraction| small.interpolate(&large, fraction).into());
        }
    }
}
