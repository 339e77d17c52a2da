//! A value that is corrected by jumps, but shown without jumps.
//!
//! *Invariant:* the shown value differs from the real value only by the remaining part of the corrections.

use std::time::Duration;

use super::offset::Offset;

/// A smaller share of a correction is not shown. It remains after thirty half-lives.
const LEAST_SHARE: f64 = 1e-9;

/// Shows a value that is sometimes corrected. The simulation uses the corrected value at once. The shown
/// value follows slowly: in each half-life, the difference between the two becomes half as large.
///
/// ```
/// use std::time::Duration;
/// # use repl_net as repl;
/// use repl::Smoothed;
///
/// let mut shown = Smoothed::new(Duration::from_millis(50), 3.0);
/// shown.correct(&10.0, &11.0); // the player was shown at 10, and is at 11
/// assert_eq!(shown.value(&11.0), 10.0);
/// shown.advance(Duration::from_millis(50));
/// assert_eq!(shown.value(&11.5), 11.0); // in the meantime, he went on to 11.5
///
/// shown.correct(&11.5, &20.0); // too far to glide
/// assert_eq!(shown.value(&20.0), 20.0);
/// ```
#[derive(Clone, Debug)]
pub struct Smoothed<T: Offset> {
    /// The offset from the real value to the shown value at the time of the last correction.
    left: Option<T::By>,
    share: f64,
    half_life_secs: f64,
    snap: f64,
}

impl<T: Offset> Smoothed<T> {
    /// Returns a `Smoothed` without corrections. If the shown value is farther than `snap` from the real
    /// value after a correction, for example after a teleport, the shown value jumps. `snap` is in the units
    /// of the value. With a half-life of zero, every correction is shown at once.
    #[must_use]
    pub const fn new(half_life: Duration, snap: f64) -> Self {
        Self { left: None, share: 0.0, half_life_secs: half_life.as_secs_f64(), snap }
    }

    /// Records that the real value was corrected from `before` to `after`.
    pub fn correct(&mut self, before: &T, after: &T) {
        let left = self.value(before).offset_from(after);
        let size = T::size(&left);
        let is_shown = size <= self.snap && size > 0.0 && self.half_life_secs > 0.0;
        (self.left, self.share) = if is_shown { (Some(left), 1.0) } else { (None, 0.0) };
    }

    /// Reduces the shown difference, after the time `elapsed` has passed.
    pub fn advance(&mut self, elapsed: Duration) {
        if self.left.is_some() {
            self.share *= (-elapsed.as_secs_f64() / self.half_life_secs).exp2();
            if self.share < LEAST_SHARE {
                self.left = None;
            }
        }
    }

    /// Returns the value to show for the real value `value`.
    #[must_use]
    pub fn value(&self, value: &T) -> T {
        match &self.left {
            Some(left) => value.moved_by(left, self.share),
            None => value.clone(),
        }
    }

    /// Returns the distance between the shown value and the real value, in the units of the value.
    #[must_use]
    pub fn distance(&self) -> f64 {
        self.left.as_ref().map_or(0.0, |left| T::size(left) * self.share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::angle::Angle;

    const FRAME: Duration = Duration::from_millis(10);

    #[test]
    fn what_is_shown_never_jumps_and_reaches_the_value() {
        let (mut shown, mut value, mut last) = (Smoothed::new(5 * FRAME, 10.0), 0.0_f64, 0.0_f64);
        for frame in 0..400 {
            value += 0.1;
            if frame % 40 == 39 && frame < 200 {
                let before = value;
                value += 2.0;
                shown.correct(&before, &value);
            }
            let now = shown.value(&value);
            assert!((0.0..0.7).contains(&(now - last)), "from {last} to {now} in a frame");
            last = now;
            shown.advance(FRAME);
        }
        assert_eq!((last, shown.distance()), (value, 0.0));
    }

    #[test]
    fn the_end_of_a_large_correction_is_no_jump() {
        let mut shown = Smoothed::new(10 * FRAME, f64::INFINITY);
        shown.correct(&0.0, &100_000.0);
        let mut last = shown.value(&100_000.0_f64);
        for frame in 0..400 {
            shown.advance(FRAME);
            let now = shown.value(&100_000.0);
            assert!(frame < 200 || now - last < 0.01, "from {last} to {now} in frame {frame}");
            last = now;
        }
        assert_eq!(last, 100_000.0);
    }

    #[test]
    fn corrections_add_up_until_they_are_too_large() {
        let mut shown = Smoothed::new(FRAME, 3.0);
        shown.correct(&0.0, &2.0);
        shown.correct(&2.0, &3.0);
        assert_eq!((shown.value(&3.0), shown.distance()), (0.0, 3.0));
        shown.correct(&3.0, &4.0);
        assert_eq!((shown.value(&4.0), shown.distance()), (4.0, 0.0));
    }

    #[test]
    fn an_angle_glides_the_short_way() {
        let mut shown = Smoothed::new(FRAME, 1.0);
        let (before, after) = (Angle::from_degrees(175.0), Angle::from_degrees(-175.0));
        shown.correct(&before, &after);
        shown.advance(FRAME);
        assert!((shown.value(&after).degrees().abs() - 180.0).abs() < 1e-3);
    }

    #[test]
    fn without_a_half_life_nothing_glides() {
        let mut shown = Smoothed::new(Duration::ZERO, 3.0);
        shown.correct(&0.0, &1.0);
        assert_eq!(shown.value(&1.0), 1.0);
    }
}
