//! The server's clock. A client estimates it from the arrival times of packets, which contain the server's
//! ticks.
//!
//! *Invariant:* the shown tick never decreases, and is never greater than the newest tick that has arrived.

use std::collections::VecDeque;
use std::ops::RangeInclusive;
use std::time::Duration;

/// The clock is estimated from at least 8 and at most 64 ticks, the newest that have arrived.
const WINDOW: RangeInclusive<usize> = 8..=64;

/// A tick is shown so late that this share of the recent ticks would have arrived in time.
const SHARE_IN_TIME: f64 = 0.95;

/// The greatest difference between the speed of the shown tick and the speed of the server's ticks, as a
/// fraction of the latter.
const MAX_SPEED_CHANGE: f64 = 0.1;

/// The time in seconds within which the shown tick would reach its target if its speed were not limited.
const APPROACH_SECS: f64 = 2.0;

/// If no tick arrives for this long, the server, the client or the link has stopped, and the clock is
/// estimated again from new ticks.
const STANDSTILL: Duration = Duration::from_secs(1);

/// If the shown tick is this many seconds behind its target, it jumps to the target.
const JUMP_SECS: f64 = 1.0;

/// The clock of a server. A client estimates it from the times at which the server's ticks arrive.
///
/// Ticks have the same numbers as in [`Server::ticks`](crate::Server::ticks). The estimates are fractional
/// numbers, because a time can be between two ticks. They are computed from the newest 64 ticks that have
/// arrived, and assume that the server ticks at a constant rate. The estimates are `None` until eight ticks
/// have arrived. If nothing arrives for more than a second, they are `None` again until eight new ticks have
/// arrived.
#[derive(Clone, Debug, Default)]
pub struct ServerClock {
    /// The ticks that have arrived, in ascending order, each with the time when its first packet arrived.
    arrivals: VecDeque<Arrival>,
    /// The tick and the time to which [`Arrival::point`] is relative.
    origin: (u64, Duration),
    /// The current estimate of the clock, or `None` if too few ticks have arrived.
    estimate: Option<Estimate>,
    /// The shown tick, and the time at which it was computed.
    shown: Option<(f64, Duration)>,
}

#[derive(Clone, Copy, Debug)]
struct Arrival {
    tick: u64,
    time: Duration,
    /// The arrival relative to the origin, in ticks and in seconds. It is stored, because converting all
    /// arrivals for each estimate would take a third of the time of the estimate.
    point: (f64, f64),
}

/// The server's clock, as estimated from the ticks that have arrived.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    /// The newest tick that has arrived, and the time when it arrived. The other values are relative to them.
    newest: (u64, Duration),
    secs_per_tick: f64,
    /// How many seconds earlier the newest tick would have arrived if its packet had been as fast as the
    /// fastest recent packet.
    lead_secs: f64,
    /// How many seconds later than the fastest packets the slow packets arrive.
    jitter_secs: f64,
}

impl ServerClock {
    /// Records that a packet of a tick has arrived. Ignores a tick that is not newer than all ticks before.
    pub(crate) fn arrived(&mut self, tick: u64, now: Duration) {
        if self.arrivals.back().is_some_and(|newest| newest.tick >= tick) {
            return;
        }
        if self.arrivals.back().is_some_and(|last| now.saturating_sub(last.time) > STANDSTILL) {
            self.arrivals.clear();
        }
        // After a standstill, many ticks may arrive at the same time. Only the newest of them is not late, so
        // it replaces the one before.
        let at_once = self.arrivals.iter().rev().take_while(|arrival| arrival.time == now).count();
        if at_once == self.arrivals.len().min(2) {
            self.arrivals.truncate(self.arrivals.len().saturating_sub(1));
        }
        if self.arrivals.len() == *WINDOW.end() {
            self.arrivals.pop_front();
        }
        if self.arrivals.is_empty() {
            self.origin = (tick, now);
        }
        let (first, start) = self.origin;
        let point = (tick.saturating_sub(first) as f64, now.saturating_sub(start).as_secs_f64());
        self.arrivals.push_back(Arrival { tick, time: now, point });
        self.estimate = Estimate::of(&self.arrivals);
    }

    /// Advances the shown tick to the time `now`.
    pub(crate) fn advance(&mut self, now: Duration) {
        if self.estimate.is_some() {
            self.shown = self.shown_tick_at(now).map(|shown| (shown, now));
        }
    }

    /// Returns the tick to show in a frame at the time `now`, between two calls of
    /// [`Client::tick`](crate::Client::tick). Use it if your game has more frames than calls of `tick`, and
    /// pass it to [`Interpolated::shown_at`](crate::Interpolated::shown_at). The [shown
    /// tick](Self::shown_tick) changes only with each call of `tick`.
    #[must_use]
    pub fn shown_tick_at(&self, now: Duration) -> Option<f64> {
        let Some(estimate) = self.estimate else { return self.shown_tick() };
        let aim = estimate.tick_at(now) - estimate.delay_secs() / estimate.secs_per_tick;
        let shown = match self.shown {
            None => aim,
            Some((shown, then)) => {
                let elapsed = now.saturating_sub(then).as_secs_f64();
                let behind_secs = (aim - shown) * estimate.secs_per_tick - elapsed;
                if behind_secs > JUMP_SECS {
                    aim
                } else {
                    let change = (behind_secs / APPROACH_SECS).clamp(-MAX_SPEED_CHANGE, MAX_SPEED_CHANGE);
                    shown + elapsed * (1.0 + change) / estimate.secs_per_tick
                }
            }
        };
        let last = self.shown.map_or(0.0, |(shown, _)| shown);
        Some(shown.min(estimate.newest.0 as f64).max(last))
    }

    /// Returns the newest tick that can have arrived at the time `now`: the tick in which the server has sent
    /// a packet that arrives now and is as fast as the fastest packets. If nothing has arrived for a second,
    /// the result does not grow any more, because the server may have stopped.
    #[must_use]
    pub fn tick_at(&self, now: Duration) -> Option<f64> {
        Some(self.estimate?.tick_at(now))
    }

    /// Returns the tick to show in this frame. Pass it to
    /// [`Interpolated::shown_at`](crate::Interpolated::shown_at). The shown tick is behind
    /// [`tick_at`](Self::tick_at) by one tick plus the [jitter](Self::jitter). Therefore, if a value is sent
    /// in each tick, nineteen of twenty values arrive before they are shown. Values that are sent less often
    /// must be shown later, which `shown_at` does.
    ///
    /// The shown tick is computed in [`Client::tick`](crate::Client::tick) and never decreases. When the
    /// jitter changes, the shown tick runs up to 10 % faster or slower until the delay is right. If the shown
    /// tick is more than a second behind its target, it jumps to the target.
    #[must_use]
    pub fn shown_tick(&self) -> Option<f64> {
        self.shown.map(|(tick, _)| tick)
    }

    /// Returns the time between two ticks of the server.
    #[must_use]
    pub fn interval(&self) -> Option<Duration> {
        Some(Duration::from_secs_f64(self.estimate?.secs_per_tick))
    }

    /// Returns how much later than the fastest tick a slow tick arrives. Nineteen of twenty recent ticks
    /// arrived at most this much later.
    #[must_use]
    pub fn jitter(&self) -> Option<Duration> {
        Some(Duration::from_secs_f64(self.estimate?.jitter_secs))
    }
}

impl Estimate {
    /// Fits a line to the points of the arrivals, by the method of least squares. The slope of the line is
    /// the time between two ticks.
    fn of(arrivals: &VecDeque<Arrival>) -> Option<Self> {
        if arrivals.len() < *WINDOW.start() {
            return None;
        }
        let newest = arrivals.back()?;
        let count = arrivals.len() as f64;
        let points = || arrivals.iter().map(|arrival| arrival.point);
        let (ticks, secs) = points().fold((0.0, 0.0), |sum, point| (sum.0 + point.0, sum.1 + point.1));
        let (mean_ticks, mean_secs) = (ticks / count, secs / count);
        let (products, squares) = points().fold((0.0, 0.0), |(products, squares), (ticks, secs)| {
            let (ticks, secs) = (ticks - mean_ticks, secs - mean_secs);
            (products + ticks * secs, squares + ticks * ticks)
        });
        let secs_per_tick: f64 = products / squares;
        if !(secs_per_tick.is_finite() && secs_per_tick > 0.0) {
            return None;
        }
        let (last_tick, last_secs) = newest.point;
        let leads = points().map(|(ticks, secs)| (last_secs - secs) - (last_tick - ticks) * secs_per_tick);
        let late = ((1.0 - SHARE_IN_TIME) * count) as usize;
        let (latest_in_time, lead_secs) = rank_and_greatest(leads, late);
        let jitter_secs = (lead_secs - latest_in_time).max(0.0);
        Some(Self { newest: (newest.tick, newest.time), secs_per_tick, lead_secs, jitter_secs })
    }

    fn tick_at(&self, now: Duration) -> f64 {
        let since = now.saturating_sub(self.newest.1).min(STANDSTILL).as_secs_f64();
        self.newest.0 as f64 + (since + self.lead_secs) / self.secs_per_tick
    }

    /// Returns by how many seconds the shown tick must be behind the newest tick that can have arrived.
    fn delay_secs(&self) -> f64 {
        self.secs_per_tick + self.jitter_secs
    }
}

/// More than the number of recent ticks that may be late.
const MAX_LATE: usize = 4;
const _: () = assert!((1.0 - SHARE_IN_TIME) * (*WINDOW.end() as f64) < MAX_LATE as f64);

/// Returns the value that has the index `rank` in ascending order, and the greatest value. `rank` must be
/// less than [`MAX_LATE`] and less than the number of values.
fn rank_and_greatest(values: impl Iterator<Item = f64>, rank: usize) -> (f64, f64) {
    let mut least = [f64::INFINITY; MAX_LATE];
    let greatest = values.fold(f64::NEG_INFINITY, |greatest, value| {
        // For most values nothing is done, because they are not among the [`MAX_LATE`] smallest.
        if least.last().is_some_and(|last| value < *last) {
            least.iter_mut().fold(value, |value, known| {
                let (less, more) = (known.min(value), known.max(value));
                *known = less;
                more
            });
        }
        greatest.max(value)
    });
    (least.get(rank).copied().unwrap_or(greatest), greatest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use repl_sim::Rng;

    #[test]
    fn the_value_of_a_rank_is_the_one_in_the_sorted_values() {
        let mut rng = Rng::new(3);
        for count in 1..100 {
            let mut values: Vec<f64> = (0..count).map(|_| rng.below(50) as f64 - 25.0).collect();
            let found = |rank| rank_and_greatest(values.iter().copied(), rank);
            let found: Vec<_> = (0..MAX_LATE.min(count)).map(found).collect();
            values.sort_by(f64::total_cmp);
            let expected = values.iter().take(MAX_LATE).map(|value| (*value, values[count - 1]));
            assert_eq!(found, expected.collect::<Vec<_>>());
        }
    }

    const TICK: Duration = Duration::from_millis(50);

    /// A simulated link to a client. Each packet takes 30 ms plus a random part of the jitter. Some packets
    /// are lost.
    struct Link {
        clock: ServerClock,
        rng: Rng,
        tick: u64,
        /// The packets in flight, each with its time of arrival and its tick.
        packets: Vec<(Duration, u64)>,
        now: Duration,
    }

    impl Link {
        fn new() -> Self {
            let (clock, rng) = (ServerClock::default(), Rng::new(7));
            Self { clock, rng, tick: 0, packets: Vec::new(), now: Duration::ZERO }
        }

        /// Runs `ticks` ticks of the server, with a frame of the client every 10 ms. Calls `check` in each
        /// frame.
        fn run(&mut self, ticks: u64, jitter: Duration, loss: u64, mut check: impl FnMut(&Self)) {
            for _ in 0..ticks {
                self.tick += 1;
                if self.rng.below(loss) > 0 {
                    let late = jitter.mul_f64(self.rng.below(1_000) as f64 / 1_000.0);
                    self.packets.push((self.now + Duration::from_millis(30) + late, self.tick));
                }
                for _ in 0..5 {
                    self.now += TICK / 5;
                    self.packets.sort();
                    while self.packets.first().is_some_and(|(time, _)| *time <= self.now) {
                        let (time, tick) = self.packets.remove(0);
                        self.clock.arrived(tick, time);
                    }
                    self.clock.advance(self.now);
                    check(self);
                }
            }
        }
    }

    const JITTER: Duration = Duration::from_millis(100);

    fn shown(link: &Link) -> f64 {
        link.clock.shown_tick().expect("eight ticks have arrived")
    }

    fn behind(link: &Link) -> f64 {
        link.tick as f64 - shown(link)
    }

    #[test]
    fn a_steady_link_is_shown_a_tick_late_at_an_even_speed() {
        let mut link = Link::new();
        link.run(7, Duration::ZERO, 1_000, |link| assert_eq!(link.clock.shown_tick(), None));
        link.run(100, Duration::ZERO, 1_000, |_| {});
        let mut last = shown(&link);
        link.run(100, Duration::ZERO, 1_000, |link| {
            assert!((shown(link) - last - 0.2).abs() < 0.02, "{} after {last}", shown(link));
            last = shown(link);
        });
        assert_eq!(link.clock.interval().map(|interval| interval.as_millis()), Some(50));
        assert!(link.clock.jitter().is_some_and(|jitter| jitter < Duration::from_millis(2)));
        let newest = link.clock.tick_at(link.now).expect("an estimate");
        assert!((newest - 207.4).abs() < 0.1, "a packet takes 30 ms of 50: {newest}");
        assert!((newest - shown(&link) - 1.0).abs() < 0.1, "{}", shown(&link));
    }

    #[test]
    fn between_two_ticks_of_the_client_the_shown_tick_goes_on() {
        let mut link = Link::new();
        link.run(100, Duration::ZERO, 1_000, |_| {});
        let before = shown(&link);
        let later = |part: u32| link.clock.shown_tick_at(link.now + TICK * part / 10).expect("an estimate");
        assert!((later(1) - before - 0.1).abs() < 0.02 && (later(2) - before - 0.2).abs() < 0.03);
        let (now, expected) = (link.now + TICK / 10, later(1));
        link.clock.advance(now);
        assert_eq!(link.clock.shown_tick(), Some(expected));
    }

    #[test]
    fn the_distance_follows_the_jitter() {
        let mut link = Link::new();
        link.run(300, JITTER, 1_000, |_| {});
        let (mut frames, mut in_time, mut last) = (0, 0, shown(&link));
        link.run(400, JITTER, 1_000, |link| {
            let newest = link.clock.arrivals.back().expect("an arrival").tick;
            frames += 1;
            in_time += u32::from(newest as f64 >= shown(link) + 0.2);
            assert!((0.0..=0.23).contains(&(shown(link) - last)), "{} after {last}", shown(link));
            last = shown(link);
        });
        assert!(in_time * 10 > frames * 9, "{in_time} of {frames}");
        let far = behind(&link);
        assert!((2.0..5.5).contains(&far), "{far}");
        link.run(160, Duration::ZERO, 1_000, |_| {});
        assert!(behind(&link) < 1.0, "{} ticks behind", behind(&link));
    }

    #[test]
    fn losses_do_not_disturb_the_clock() {
        let mut link = Link::new();
        link.run(300, Duration::from_millis(20), 4, |_| {});
        let interval = link.clock.interval().expect("an estimate");
        assert!((49..=51).contains(&interval.as_millis()), "{interval:?}");
        assert!((1.0..4.0).contains(&behind(&link)), "{}", behind(&link));
    }

    #[test]
    fn after_a_standstill_of_either_side_the_clock_is_right_again() {
        let mut link = Link::new();
        link.run(100, Duration::ZERO, 1_000, |_| {});
        let before = shown(&link);
        // The client stops for 30 s, and then receives all packets of this time together.
        link.now += Duration::from_secs(30);
        for tick in 0..600 {
            link.clock.arrived(link.tick + tick, link.now);
        }
        link.tick += 600;
        link.run(40, Duration::ZERO, 1_000, |link| assert!(shown(link) >= before));
        assert!((behind(&link) - 0.6).abs() < 0.3, "{}", behind(&link));
        // The server sends nothing any more.
        let before = shown(&link);
        for _ in 0..3_000 {
            link.now += TICK / 5;
            link.clock.advance(link.now);
        }
        assert!(shown(&link) <= link.tick as f64, "nothing is shown that has not arrived");
        link.run(60, Duration::ZERO, 1_000, |link| assert!(shown(link) >= before));
        assert!((behind(&link) - 0.6).abs() < 0.3, "{}", behind(&link));
    }
}
