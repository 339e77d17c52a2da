//! A position with its velocity. Interpolation between two of them follows a curve.
//!
//! *Invariant:* the curve between two values passes through both positions, and has their velocities there.

use super::interpolate::Interpolate;
use super::offset::Offset;

/// A position with its velocity. An [`Interpolated`](crate::Interpolated) shows a smooth curve between two
/// such values. Straight lines between positions would have a corner at each update.
///
/// ```
/// # use repl_net as repl;
/// use repl::{Interpolated, Moving};
///
/// let mut ball = Interpolated::new(20);
/// ball.push(100, Moving { position: 0.0, per_tick: 1.0 });
/// ball.push(110, Moving { position: 0.0, per_tick: -1.0 });
/// assert_eq!(ball.at(105.0).map(|ball| ball.position), Some(2.5), "it flew up and came back");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moving<P> {
    /// The position.
    pub position: P,
    /// The velocity: the movement in one tick of the server.
    pub per_tick: P,
}

impl<P: Offset<By = P> + Clone> Interpolate for Moving<P> {
    fn interpolate(&self, next: &Self, fraction: f64) -> Self {
        self.interpolate_over(next, fraction, 1.0)
    }

    fn interpolate_over(&self, next: &Self, fraction: f64, ticks: f64) -> Self {
        if fraction >= 1.0 {
            return next.clone();
        }
        if fraction <= 0.0 || fraction.is_nan() {
            return self.clone();
        }
        let (t, rest) = (fraction, 1.0 - fraction);
        let way = next.position.offset_from(&self.position);
        // This is the cubic Hermite curve. Its terms are added one after another, because they are offsets.
        let position = self
            .position
            .moved_by(&way, t * t * (3.0 - 2.0 * t))
            .moved_by(&self.per_tick, ticks * t * rest * rest)
            .moved_by(&next.per_tick, -ticks * t * t * rest);
        let per_tick = self.per_tick.interpolate(&next.per_tick, fraction);
        Self { position, per_tick }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_evenly_is_shown_on_its_line() {
        let at = |x: f64| Moving { position: [x, 2.0 * x], per_tick: [0.5, 1.0] };
        for fraction in [0.0, 0.1, 0.5, 0.9, 1.0] {
            let [x, y] = at(3.0).interpolate_over(&at(8.0), fraction, 10.0).position;
            assert!((x - (3.0 + 5.0 * fraction)).abs() < 1e-12 && (y - 2.0 * x).abs() < 1e-12);
        }
    }

    #[test]
    fn several_that_move_have_their_curves() {
        let [up, down] = [1.0, -1.0].map(|per_tick| [Moving { position: 0.0, per_tick }]);
        assert_eq!(up.interpolate_over(&down, 0.5, 10.0)[0].position, 2.5);
    }

    #[test]
    fn the_curve_has_no_corner_where_two_parts_meet() {
        let path =
            [(0.0, 0.0), (4.0, 1.5), (9.0, -0.5)].map(|(position, per_tick)| Moving { position, per_tick });
        let [first, second, third] = path;
        let step = 1e-6;
        let before = first.interpolate_over(&second, 1.0 - step, 5.0).position;
        let after = second.interpolate_over(&third, step, 5.0).position;
        assert!(((4.0 - before) / (5.0 * step) - 1.5).abs() < 1e-3);
        assert!(((after - 4.0) / (5.0 * step) - 1.5).abs() < 1e-3);
    }
}
