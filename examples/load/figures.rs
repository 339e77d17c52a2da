//! The measured times of each tick, and quantiles over many ticks.
//!
//! *Invariant:* a quantile is a value that was measured.

use std::time::{Duration, Instant};

use crate::times;

/// The parts of a tick, in the order in which they run.
pub(crate) const PARTS: [&str; 4] = ["receive", "world", "tick", "transmit"];

/// The times of a tick.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tick {
    /// The processor time of the thread in each of the [`PARTS`].
    pub(crate) parts: [Duration; PARTS.len()],
    /// The time that passed from the beginning to the end of the tick.
    pub(crate) wall: Duration,
}

impl Tick {
    /// Returns the processor time of the whole tick.
    pub(crate) fn cpu(&self) -> Duration {
        self.parts.iter().sum()
    }
}

/// Measures the parts of one tick.
pub(crate) struct Watch {
    start: Instant,
    cpu: Duration,
    tick: Tick,
    part: usize,
}

impl Watch {
    pub(crate) fn start() -> Self {
        Self { start: Instant::now(), cpu: times::of_thread(), tick: Tick::default(), part: 0 }
    }

    /// Ends the current part, and begins the next part.
    pub(crate) fn lap(&mut self) {
        let cpu = times::of_thread();
        self.tick.parts[self.part] = cpu.saturating_sub(std::mem::replace(&mut self.cpu, cpu));
        self.part += 1;
    }

    /// Ends the last part and the tick.
    pub(crate) fn stop(mut self) -> Tick {
        self.lap();
        Tick { wall: self.start.elapsed(), ..self.tick }
    }
}

/// Some quantiles of the times of many ticks, in milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Quantiles {
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) max: f64,
}

impl Quantiles {
    /// Returns the quantiles of one time, for example of `Tick::cpu`, over all ticks.
    pub(crate) fn of(ticks: &[Tick], time: impl Fn(&Tick) -> Duration) -> Self {
        let mut times: Vec<_> = ticks.iter().map(time).collect();
        times.sort_unstable();
        let at = |share: usize| {
            let index = (times.len() * share / 100).min(times.len().saturating_sub(1));
            times.get(index).map_or(0.0, |time| time.as_secs_f64() * 1e3)
        };
        Self { p50: at(50), p99: at(99), max: at(100) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_were_measured() {
        let ticks = |count: u64| -> Vec<_> {
            let wall = (1..=count).rev().map(Duration::from_millis);
            wall.map(|wall| Tick { wall, ..Tick::default() }).collect()
        };
        for (count, [p50, p99, max]) in
            [(0, [0.0; 3]), (1, [1.0; 3]), (3, [2.0, 3.0, 3.0]), (1_000, [501.0, 991.0, 1_000.0])]
        {
            let quantiles = Quantiles::of(&ticks(count), |tick| tick.wall);
            assert_eq!([quantiles.p50, quantiles.p99, quantiles.max], [p50, p99, max], "{count}");
        }
    }
}
