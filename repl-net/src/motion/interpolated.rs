//! Computes values between the ticks of a server, for drawing.
//!
//! *Invariant:* a shown value lies between two received values, or is one of them. Values after the newest
//! received value are extrapolated only if the user asks for it.

use std::collections::VecDeque;

use super::interpolate::Interpolate;
use super::offset::Offset;

/// The least number of values that are stored.
const LEAST_KEPT: usize = 32;

/// The greatest allowed number of ticks between two updates.
const MOST_TICKS: u64 = 1_000;

/// Stores the newest values of a property with their ticks, so that a client can draw values between them.
/// The user stores one `Interpolated` for each moving object. The replicated value itself does not change.
///
/// [`push`](Self::push) each value when it arrives, and draw the value that is [shown at](Self::shown_at) the
/// tick of the [`ServerClock`](crate::ServerClock):
///
/// ```
/// # use repl_net as repl;
/// use repl::Interpolated;
///
/// let mut x = Interpolated::new(4); // at most 4 ticks between two updates
/// x.push(100, [0.0, 0.0]);
/// x.push(104, [8.0, 2.0]);
/// assert_eq!(x.at(102.0), Some([4.0, 1.0]));
/// assert_eq!(x.shown_at(105.0), Some([4.0, 1.0]), "three ticks behind the clock");
/// assert_eq!(x.at(109.0), Some([8.0, 2.0]), "nothing is extrapolated");
/// ```
///
/// Only the newest values are stored: 32, or `max_ticks` plus two if that is more.
#[derive(Clone, Debug)]
pub struct Interpolated<T> {
    /// The values with their ticks, in ascending order of the ticks.
    values: VecDeque<(u64, T)>,
    max_ticks: u64,
}

impl<T: Clone> Interpolated<T> {
    /// Returns an [`Interpolated`] without values. `max_ticks` is the longest time between two values of a
    /// moving object. If a value arrives more than `max_ticks` after the previous value, the object was at
    /// rest in between, so that nothing was sent. The change is then assumed to have begun `max_ticks` before
    /// the new value.
    ///
    /// Choose `max_ticks` as follows, in ticks of the server: the interval of the object's
    /// [`UpdateRate`](crate::UpdateRate), plus the ticks of its slowest [band](crate::Area::slower_beyond) (a
    /// range of distances with slower updates), plus two or three ticks for lost packets. For objects that
    /// are updated in each tick, 4 is a good value. `max_ticks` is clamped to the range from 1 to 1,000.
    #[must_use]
    pub const fn new(max_ticks: u64) -> Self {
        let max_ticks = match max_ticks {
            0 => 1,
            1..=MOST_TICKS => max_ticks,
            _ => MOST_TICKS,
        };
        Self { values: VecDeque::new(), max_ticks }
    }

    /// Adds the value of a tick. It replaces a value of the same tick. If a value of a later tick was added
    /// before, the new value is ignored.
    pub fn push(&mut self, tick: u64, value: T) {
        match self.values.back_mut() {
            Some((newest, _)) if *newest > tick => return,
            Some((newest, last)) if *newest == tick => {
                *last = value;
                return;
            }
            Some((newest, last)) if tick.saturating_sub(*newest) > self.max_ticks => {
                let unchanged = (tick.saturating_sub(self.max_ticks), last.clone());
                self.keep(unchanged);
            }
            _ => {}
        }
        self.keep((tick, value));
    }

    fn keep(&mut self, value: (u64, T)) {
        // Values that arrive in each tick are shown `max_ticks` later, and one more value is needed on each
        // side.
        let most = LEAST_KEPT.max(self.max_ticks.saturating_add(2) as usize);
        if self.values.len() >= most {
            self.values.pop_front();
        }
        self.values.push_back(value);
    }

    /// Forgets all values and sets a new value, for example after a teleport. No value between the old and
    /// the new value is shown.
    pub fn snap(&mut self, tick: u64, value: T) {
        self.values.clear();
        self.keep((tick, value));
    }

    /// Returns the value at a tick. `mix` computes it from three arguments: the last value before the tick,
    /// the first value after the tick, and the fraction of the time between the two, from 0 to 1. For a tick
    /// before the first value, returns the first value. For a tick after the last value, returns the last
    /// value. Returns `None` if there are no values. Costs O(log values).
    pub fn at_with(&self, tick: f64, mix: impl FnOnce(&T, &T, f64) -> T) -> Option<T> {
        self.mixed(tick, |before, after, fraction, _| mix(before, after, fraction))
    }

    /// Returns the value at a tick. `mix` receives the number of ticks between the two values as its fourth
    /// argument.
    fn mixed(&self, tick: f64, mix: impl FnOnce(&T, &T, f64, f64) -> T) -> Option<T> {
        let after = self.values.partition_point(|(of, _)| *of as f64 <= tick);
        let Some(before) = after.checked_sub(1).and_then(|at| self.values.get(at)) else {
            return self.values.front().map(|(_, value)| value.clone());
        };
        let Some(after) = self.values.get(after) else { return Some(before.1.clone()) };
        let ticks = after.0.saturating_sub(before.0) as f64;
        let fraction = (tick - before.0 as f64) / ticks;
        Some(mix(&before.1, &after.1, fraction, ticks))
    }

    /// Returns how many ticks [`shown_at`](Self::shown_at) is behind the tick that the clock shows. This is
    /// `max_ticks` minus one: the clock itself is already one tick behind the newest tick.
    #[must_use]
    pub const fn delay(&self) -> f64 {
        self.max_ticks.saturating_sub(1) as f64
    }

    /// Returns the value to draw when the clock [shows](crate::ServerClock::shown_tick) a tick. This is the
    /// value at an earlier tick (by the [delay](Self::delay)), because the next update must have arrived.
    /// Without this delay, an object that is updated every few ticks would stop and then jump.
    #[must_use]
    pub fn shown_at(&self, shown_tick: f64) -> Option<T>
    where
        T: Interpolate,
    {
        self.at(shown_tick - self.delay())
    }

    /// Returns the value at a tick. Does the same as [`at_with`](Self::at_with), with [`Interpolate`] as
    /// `mix`.
    #[must_use]
    pub fn at(&self, tick: f64) -> Option<T>
    where
        T: Interpolate,
    {
        self.mixed(tick, T::interpolate_over)
    }

    /// Returns the value at a tick. After the last value, extrapolates from the last two values for at most
    /// `most_ticks` ticks, and then the value remains constant. The extrapolation may be wrong. When the next
    /// value arrives, the shown value jumps to it, unless a [`Smoothed`](crate::Smoothed) hides the jump.
    ///
    /// ```
    /// # use repl_net as repl;
    /// let mut x = repl::Interpolated::new(4);
    /// x.push(100, 4.0);
    /// x.push(102, 6.0);
    /// assert_eq!((x.at_or_beyond(101.0, 3.0), x.at_or_beyond(104.0, 3.0)), (Some(5.0), Some(8.0)));
    /// assert_eq!(x.at_or_beyond(200.0, 3.0), Some(9.0));
    /// ```
    #[must_use]
    pub fn at_or_beyond(&self, tick: f64, most_ticks: f64) -> Option<T>
    where
        T: Offset,
    {
        let mut newest = self.values.iter().rev();
        let ((newest, last), before) = (newest.next()?, newest.next());
        let beyond = tick - *newest as f64;
        match before {
            Some((of, before)) if beyond > 0.0 && most_ticks > 0.0 => {
                let beyond = beyond.min(most_ticks);
                let ticks = newest.saturating_sub(*of) as f64;
                Some(last.moved_by(&last.offset_from(before), beyond / ticks))
            }
            _ => self.at(tick),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_between_two_ticks_are_mixed() {
        let mut value = Interpolated::new(4);
        assert_eq!(value.at(3.0), None);
        value.push(10, 1.0_f32);
        assert_eq!((value.at(3.0), value.at(30.0)), (Some(1.0), Some(1.0)));
        value.push(12, 3.0);
        value.push(13, 0.0);
        for (tick, expected) in
            [(9.0, 1.0), (10.0, 1.0), (10.5, 1.5), (12.0, 3.0), (12.75, 0.75), (20.0, 0.0)]
        {
            assert_eq!(value.at(tick), Some(expected), "at {tick}");
        }
        assert_eq!(value.at_with(12.5, |before, after, _| before.max(*after)), Some(3.0));
    }

    #[test]
    fn an_older_tick_is_ignored_and_the_same_tick_replaced() {
        let mut value = Interpolated::new(4);
        value.push(10, 1.0);
        value.push(9, 7.0);
        value.push(10, 2.0);
        assert_eq!((value.at(9.0), value.at(10.0)), (Some(2.0), Some(2.0)));
    }

    #[test]
    fn a_value_that_rested_begins_to_move_shortly_before_the_next() {
        let mut value = Interpolated::new(4);
        value.push(10, 0.0);
        value.push(100, 8.0);
        assert_eq!((value.at(50.0), value.at(96.0), value.at(98.0)), (Some(0.0), Some(0.0), Some(4.0)));
    }

    #[test]
    fn an_object_that_is_updated_every_few_ticks_moves_in_each_frame() {
        for interval in [1, 3, 10] {
            let mut value = Interpolated::new(interval);
            let mut last = None;
            for tick in 0..100_u64 {
                if tick.is_multiple_of(interval) {
                    value.push(tick, tick as f64);
                }
                // The clock shows the newest tick at the latest.
                let shown = value.shown_at(tick as f64);
                if tick > 2 * interval {
                    assert_eq!(shown.zip(last).map(|(shown, last)| shown - last), Some(1.0), "{interval}");
                }
                last = shown;
            }
        }
    }

    #[test]
    fn nothing_is_drawn_between_the_ends_of_a_teleport() {
        let mut value = Interpolated::new(4);
        value.push(10, 0.0);
        value.snap(11, 100.0);
        assert_eq!((value.at(10.5), value.at(11.0)), (Some(100.0), Some(100.0)));
    }

    #[test]
    fn an_object_that_is_updated_in_each_tick_is_shown_as_late_as_the_slowest() {
        for most in [31, 32, 60, 1_000, u64::MAX] {
            let mut value = Interpolated::new(most);
            (0..3_000_u64).for_each(|tick| value.push(tick, tick as f64));
            assert_eq!(value.shown_at(2_999.5), Some(2_999.5 - value.delay()), "{most}");
        }
    }

    #[test]
    fn what_is_no_tick_is_not_beyond_the_last_value() {
        let mut value = Interpolated::new(4);
        value.push(100, 4.0);
        value.push(102, 6.0);
        assert_eq!(value.at_or_beyond(f64::NAN, 3.0), value.at(f64::NAN));
        assert_eq!(value.at_or_beyond(200.0, f64::NAN), Some(6.0));
    }

    #[test]
    fn no_more_than_32_values_are_kept() {
        let mut value = Interpolated::new(4);
        (0..1_000).for_each(|tick| value.push(tick * 10, tick as f64));
        assert_eq!(value.values.len(), LEAST_KEPT);
        assert_eq!(value.at(9_990.0), Some(999.0));
    }
}
