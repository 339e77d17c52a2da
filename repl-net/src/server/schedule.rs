//! The update times of objects: a changed object with an [`UpdateRate`] is compared only at its next update
//! time, unless the update is forced or a client must receive the object for the first time (S186, S187).
//!
//! *Invariant:* each object in `waiting` has at least one valid entry in the timing wheel, so no waiting
//! change is forgotten. An object without a waiting change has no valid entry and costs nothing in a tick.

use std::collections::BTreeMap;
use std::time::Duration;

use super::phase::phase_of;
use crate::body::slot_set::{SlotSet, slots_of};

/// The interval of an adaptive object begins to grow after this time without a change, in nanoseconds (S187).
const GROWS_AFTER: u64 = 2 * NANOS;
/// The time in which the interval of an adaptive object grows to its longest interval, in nanoseconds (S187).
const GROWS_FOR: u64 = 5 * NANOS;
const NANOS: u64 = 1_000_000_000;

/// The longest interval of a rate that is given in updates per second: 500 years.
const LONGEST_INTERVAL: Duration = Duration::from_secs(500 * 31_557_600);

/// The number of buckets of the wheel.
const BUCKETS: u64 = 1_024;
/// Each bucket covers a time of 2 to the power of `BUCKET_SHIFT` nanoseconds, about 1 ms.
const BUCKET_SHIFT: u32 = 20;

/// How often an object is compared and its changes are sent. The default is every tick.
///
/// ```
/// # use repl_net as repl;
/// use repl::UpdateRate;
/// use std::time::Duration;
///
/// let creature = UpdateRate::per_second(10.0);
/// let door = UpdateRate::every(Duration::from_millis(200)).slowing_to(Duration::from_secs(2));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UpdateRate {
    interval: Duration,
    slowest: Duration,
}

impl UpdateRate {
    /// The object is compared in each tick in which it may have changed. This is the default.
    pub const EACH_TICK: Self = Self { interval: Duration::ZERO, slowest: Duration::ZERO };

    /// The object has one update time in each `interval`. The times that are passed to
    /// [`Server::tick`](crate::Server::tick) are the clock. A change waits until the next update time of its
    /// object: half an interval on average, and never more than one interval. The update times of objects
    /// with the same interval are spread evenly over the interval.
    #[must_use]
    pub const fn every(interval: Duration) -> Self {
        Self { interval, slowest: interval }
    }

    /// The object has `updates` update times in a second.
    ///
    /// # Panics
    /// Panics if `updates` is not positive and finite, or if the time between two updates is more than 500
    /// years.
    #[must_use]
    #[track_caller]
    pub fn per_second(updates: f64) -> Self {
        let is_possible = |interval: &Duration| updates.is_finite() && *interval <= LONGEST_INTERVAL;
        let interval = Duration::try_from_secs_f64(1.0 / updates).ok().filter(is_possible);
        let Some(interval) = interval else {
            panic!("a rate is a positive number of updates in a second, not {updates}")
        };
        Self::every(interval)
    }

    /// Makes the interval adaptive: it grows up to `longest` while the object does not change. After 2 s
    /// without a change, it grows evenly for 5 s. At each update that finds a change, the interval becomes
    /// 0.7 times the time since the previous update that found a change. The result is clamped to the range
    /// from the interval of this rate to `longest`. If `longest` is shorter than the interval, the interval
    /// stays constant.
    #[must_use]
    pub const fn slowing_to(self, longest: Duration) -> Self {
        Self { interval: self.interval, slowest: longest }
    }

    fn is_adaptive(self) -> bool {
        self.slowest > self.interval
    }
}

/// The interval of one object, and when the object is due.
#[derive(Clone, Copy, Debug, Default)]
struct Timing {
    /// The interval in nanoseconds. For an adaptive object, this is the shortest interval.
    interval: u64,
    /// The time at which the object is due, if a change of it waits.
    due: u64,
}

/// The state of an object whose interval adapts.
#[derive(Clone, Copy, Debug)]
struct Adaptive {
    longest: u64,
    /// The interval that the last update with changes has set.
    interval: u64,
    /// The time of the last update with changes.
    changed_at: u64,
}

/// Decides when changed objects are compared.
#[derive(Debug, Default)]
pub(crate) struct Schedule {
    /// The rate of each class.
    classes: Vec<UpdateRate>,
    /// The objects that have rates of their own.
    own: SlotSet,
    /// The objects that are not compared in every tick.
    rated: SlotSet,
    /// The timings of the objects in `rated`, by slot.
    timings: Vec<Timing>,
    /// The objects whose intervals adapt.
    adapting: SlotSet,
    adaptive: BTreeMap<u32, Adaptive>,
    /// The objects that are due at the next tick, independent of their rates.
    forced: SlotSet,
    /// The objects that may have changed, and that wait for their update time.
    waiting: SlotSet,
    wheel: Wheel,
    /// The time of the last tick.
    last: u64,
    /// Reused memory: words of slots.
    words: Vec<(usize, u64)>,
}

impl Schedule {
    pub(crate) fn class_rate(&self, class: u16) -> UpdateRate {
        self.classes.get(usize::from(class)).copied().unwrap_or_default()
    }

    /// Sets the rate of a class. The caller then [applies](Self::apply_class_rate) it to the objects of the
    /// class.
    pub(crate) fn set_class_rate(&mut self, class: u16, rate: UpdateRate) {
        let at = usize::from(class);
        if self.classes.len() <= at {
            self.classes.resize(at + 1, UpdateRate::default());
        }
        self.classes[at] = rate;
    }

    /// Sets the rate of an object to the rate of its class, unless the object has its own rate. Returns
    /// whether a change of the object waited. If so, the caller must mark the object as dirty.
    pub(crate) fn apply_class_rate(&mut self, slot: u32, class: u16) -> bool {
        let are_unused = self.classes.is_empty() && self.rated.is_empty();
        !are_unused && !self.own.contains(slot) && self.set_rate(slot, self.class_rate(class))
    }

    /// Sets the rate of one object, or returns it to the rate of its class if `rate` is `None`. Returns
    /// whether a change of the object waited. If so, the caller must mark the object as dirty.
    pub(crate) fn set_own_rate(&mut self, slot: u32, class: u16, rate: Option<UpdateRate>) -> bool {
        self.own.set(slot, rate.is_some());
        self.set_rate(slot, rate.unwrap_or_else(|| self.class_rate(class)))
    }

    fn set_rate(&mut self, slot: u32, rate: UpdateRate) -> bool {
        let is_rated = !rate.interval.is_zero() || rate.is_adaptive();
        if !is_rated && !self.rated.contains(slot) {
            return false;
        }
        let (interval, longest) = (nanos(rate.interval), nanos(rate.slowest));
        self.rated.set(slot, is_rated);
        if self.timings.len() <= slot as usize {
            self.timings.resize(slot as usize + 1, Timing::default());
        }
        let known = self.adaptive.get(&slot).map(|adaptive| adaptive.longest);
        let wanted = rate.is_adaptive().then_some(longest);
        if self.timings[slot as usize].interval == interval && known == wanted {
            return false;
        }
        self.timings[slot as usize].interval = interval;
        self.adapting.set(slot, wanted.is_some());
        match wanted {
            Some(longest) => {
                _ = self.adaptive.insert(slot, Adaptive { longest, interval, changed_at: self.last });
            }
            None => _ = self.adaptive.remove(&slot),
        }
        let has_waited = self.waiting.contains(slot);
        self.waiting.remove(slot);
        has_waited
    }

    pub(crate) fn force(&mut self, slot: u32) {
        // The object may get a rate before the next tick.
        self.forced.insert(slot);
    }

    /// Makes the objects of `mask` due at the next tick.
    pub(crate) fn force_mask(&mut self, word: usize, mask: u64) {
        self.forced.insert_mask(word, mask);
    }

    /// Drops everything about an object that was removed.
    pub(crate) fn forget(&mut self, slot: u32) {
        let Self { own, rated, adapting, forced, waiting, .. } = self;
        [own, rated, adapting, forced, waiting].into_iter().for_each(|set| set.remove(slot));
        self.adaptive.remove(&slot);
    }

    /// Returns whether the object may have a change that waits for the object's update time.
    pub(crate) fn is_waiting(&self, slot: u32) -> bool {
        self.waiting.contains(slot)
    }

    /// Removes the objects that are not due yet from `dirty`, and adds the objects that waited and are due
    /// now. The objects in `opening` stay in `dirty` in any case.
    pub(crate) fn release(&mut self, dirty: &mut SlotSet, opening: &SlotSet, now: Duration) {
        let now = nanos(now).max(self.last);
        let last = std::mem::replace(&mut self.last, now);
        if self.rated.is_empty() {
            self.forced.clear();
            return;
        }
        let mut words = std::mem::take(&mut self.words);
        words.clear();
        words.extend(dirty.masks_in(&self.rated));
        for (word, mask) in words.drain(..) {
            let waiting = self.waiting.word(word) & !self.forced.word(word);
            dirty.remove_mask(word, mask & waiting);
            for slot in slots_of(word, mask & !waiting & !self.forced.word(word)) {
                let interval = self.interval_of(slot, now);
                let due = update_time_after(slot, interval, last);
                if due > now {
                    dirty.remove(slot);
                    self.waiting.insert(slot);
                    self.timings[slot as usize].due = due;
                    self.wheel.insert(slot, due, last);
                }
            }
        }
        for forced in [&self.forced, opening] {
            words.extend(self.waiting.masks_in(forced));
            for (word, mask) in words.drain(..) {
                self.waiting.remove_mask(word, mask);
                dirty.insert_mask(word, mask);
            }
        }
        self.words = words;
        self.forced.clear();
        let Self { waiting, timings, wheel, .. } = self;
        let is_valid = |slot, due| waiting.contains(slot) && timings[slot as usize].due == due;
        let due = wheel.advance(now, is_valid);
        for &slot in due {
            self.waiting.remove(slot);
            dirty.insert(slot);
        }
    }

    /// Records that a comparison has found changes of the objects in `changed`.
    pub(crate) fn changed(&mut self, changed: &SlotSet) {
        let now = self.last;
        for (word, mask) in changed.masks_in(&self.adapting) {
            for slot in slots_of(word, mask) {
                let Some(adaptive) = self.adaptive.get_mut(&slot) else { continue };
                let since = now - adaptive.changed_at;
                let shortest = self.timings[slot as usize].interval;
                adaptive.interval = (since / 10 * 7).clamp(shortest, adaptive.longest);
                adaptive.changed_at = now;
            }
        }
    }

    fn interval_of(&self, slot: u32, now: u64) -> u64 {
        let shortest = self.timings[slot as usize].interval;
        let Some(adaptive) = self.adaptive.get(&slot) else { return shortest };
        let silence = now - adaptive.changed_at;
        if silence <= GROWS_AFTER {
            return adaptive.interval;
        }
        let growing = u128::from((silence - GROWS_AFTER).min(GROWS_FOR));
        shortest + (u128::from(adaptive.longest - shortest) * growing / u128::from(GROWS_FOR)) as u64
    }
}

/// Returns the first update time of an object after `last`.
fn update_time_after(slot: u32, interval: u64, last: u64) -> u64 {
    if interval == 0 {
        return last;
    }
    let phase = phase_of(slot, interval);
    let place = last % interval;
    // Avoids a sum that would overflow for intervals of centuries, which mean "never".
    let since = if place < phase { interval - (phase - place) } else { place - phase };
    last.saturating_add(interval - since)
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// A timing wheel: sorts objects by the times at which they are due.
#[derive(Debug, Default)]
struct Wheel {
    /// `BUCKETS` buckets, or none before the first entry. Each entry is a slot and the time at which it is
    /// due. An entry that is due after more than one turn of the wheel is in the last bucket of this turn.
    buckets: Vec<Vec<(u32, u64)>>,
    /// The number of the bucket that is examined next.
    next: u64,
    entries: usize,
    due: Vec<u32>,
    /// Reused memory of [`advance`](Self::advance): entries that are not due yet, although their bucket was
    /// reached.
    early: Vec<(u32, u64)>,
}

impl Wheel {
    /// Adds an entry after the time `now`.
    fn insert(&mut self, slot: u32, due: u64, now: u64) {
        if self.buckets.is_empty() {
            self.buckets.resize_with(BUCKETS as usize, Vec::new);
        }
        if self.entries == 0 {
            self.next = now >> BUCKET_SHIFT;
        }
        let bucket = (due >> BUCKET_SHIFT).clamp(self.next, self.next + BUCKETS - 1);
        self.buckets[(bucket % BUCKETS) as usize].push((slot, due));
        self.entries += 1;
    }

    /// Returns the objects that are due at the time `now`, in no particular order. Drops the entries that are
    /// not valid any more.
    fn advance(&mut self, now: u64, is_valid: impl Fn(u32, u64) -> bool) -> &[u32] {
        self.due.clear();
        let end = now >> BUCKET_SHIFT;
        let Self { buckets, due, early, entries, .. } = self;
        if *entries > 0 {
            for bucket in self.next..=end.min(self.next + BUCKETS - 1) {
                for (slot, time) in buckets[(bucket % BUCKETS) as usize].drain(..) {
                    *entries -= 1;
                    if !is_valid(slot, time) {
                        continue;
                    }
                    if time <= now { due.push(slot) } else { early.push((slot, time)) }
                }
            }
            self.next = end.max(self.next);
        }
        while let Some((slot, time)) = self.early.pop() {
            self.insert(slot, time, now);
        }
        &self.due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    /// Marks all objects as changed at each time in `times`. Returns the slots that are compared at each
    /// time.
    fn compared(schedule: &mut Schedule, slots: u32, times: impl Iterator<Item = Duration>) -> Vec<Vec<u32>> {
        let mut all = Vec::new();
        for now in times {
            let mut dirty = SlotSet::default();
            (0..slots).for_each(|slot| dirty.insert(slot));
            schedule.release(&mut dirty, &SlotSet::default(), now);
            all.push(dirty.iter().collect());
        }
        all
    }

    #[test]
    fn s187_the_update_times_of_a_class_are_spread_evenly() {
        let mut schedule = Schedule::default();
        schedule.set_class_rate(0, UpdateRate::every(ms(100)));
        (0..1_000).for_each(|slot| _ = schedule.apply_class_rate(slot, 0));
        let ticks = compared(&mut schedule, 1_000, (1..=100).map(|tick| ms(tick * 10)));
        assert!(ticks.iter().all(|slots| (90..=110).contains(&slots.len())), "{:?}", ticks[0].len());
        for slot in 0..1_000 {
            assert_eq!(ticks.iter().filter(|slots| slots.contains(&slot)).count(), 10, "once in 100 ms");
        }
    }

    #[test]
    fn s186_what_waits_comes_by_itself_at_its_time_after_any_pause() {
        for (interval, pause) in
            [(ms(100), ms(7)), (ms(3_000), ms(7)), (ms(3_000), ms(50)), (ms(50), ms(9_000))]
        {
            let mut schedule = Schedule::default();
            (0..100).for_each(|slot| _ = schedule.set_own_rate(slot, 0, Some(UpdateRate::every(interval))));
            let mut seen = compared(&mut schedule, 100, std::iter::once(ms(10_000))).swap_remove(0);
            let mut now = ms(10_000);
            while now < ms(10_000) + interval {
                now += pause;
                let mut dirty = SlotSet::default();
                schedule.release(&mut dirty, &SlotSet::default(), now);
                seen.extend(dirty.iter());
            }
            seen.sort_unstable();
            assert_eq!(seen, (0..100).collect::<Vec<_>>(), "{interval:?} {pause:?}");
            assert!(schedule.wheel.entries == 0 && schedule.waiting.is_empty());
        }
    }

    #[test]
    fn s187_an_adaptive_interval_grows_in_silence_and_follows_changes() {
        let mut schedule = Schedule::default();
        let rate = UpdateRate::per_second(10.0).slowing_to(ms(1_100));
        schedule.set_own_rate(3, 0, Some(rate));
        let interval = |schedule: &Schedule, now: Duration| schedule.interval_of(3, nanos(now)) / 1_000_000;
        assert_eq!(
            [0, 2_000, 4_500, 7_000, 60_000].map(|now| interval(&schedule, ms(now))),
            [100, 100, 600, 1_100, 1_100]
        );
        let mut slots = SlotSet::default();
        slots.insert(3);
        for (now, expected) in [(10_000, 1_100), (10_500, 350), (10_510, 100), (11_510, 700)] {
            schedule.last = nanos(ms(now));
            schedule.changed(&slots);
            assert_eq!(interval(&schedule, ms(now)), expected, "0.7 times the time since the last change");
        }
    }

    #[test]
    fn objects_with_intervals_of_any_length_wait_and_come_when_they_are_forced() {
        for interval in [Duration::MAX, Duration::from_nanos(u64::MAX), Duration::from_nanos(1 << 63)] {
            let mut schedule = Schedule::default();
            let rates = [UpdateRate::every(interval), UpdateRate::every(ms(10)).slowing_to(interval)];
            (0..100).for_each(|slot| _ = schedule.set_own_rate(slot, 0, Some(rates[slot as usize % 2])));
            schedule.release(&mut SlotSet::default(), &SlotSet::default(), ms(20_000));
            let waiting = compared(&mut schedule, 100, std::iter::once(ms(20_001))).swap_remove(0);
            assert!(waiting.is_empty(), "{interval:?}: {waiting:?}");
            (0..100).for_each(|slot| schedule.force(slot));
            assert_eq!(
                compared(&mut schedule, 100, std::iter::once(ms(20_002)))[0].len(),
                100,
                "{interval:?}"
            );
        }
    }

    #[test]
    fn a_rate_of_less_than_one_update_in_500_years_is_refused() {
        const YEAR: f64 = 365.25 * 24.0 * 3_600.0;
        let is_refused = |updates: f64| std::panic::catch_unwind(|| UpdateRate::per_second(updates)).is_err();
        let years =
            [0.000_1, 499.0, 501.0, 1e6, 1e12, f64::INFINITY].map(|years| is_refused(1.0 / (years * YEAR)));
        assert_eq!(years, [false, false, true, true, true, true]);
        assert!(is_refused(f64::INFINITY) && is_refused(f64::NAN) && is_refused(-1.0));
    }

    #[test]
    fn entries_of_rates_that_change_again_and_again_do_not_pile_up() {
        let mut schedule = Schedule::default();
        for tick in 1..10_000_u64 {
            schedule.set_own_rate(0, 0, Some(UpdateRate::every(Duration::from_secs(3_600 + tick))));
            compared(&mut schedule, 1, std::iter::once(ms(16 * tick)));
            assert!(schedule.wheel.entries <= 70, "those of one turn of the wheel");
        }
    }
}
