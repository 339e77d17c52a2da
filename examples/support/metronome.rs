//! Ticks in real time.
//!
//! *Invariant:* a late tick does not delay the later ticks. If a tick is late by more than [`MOST_LATE`], the
//! missed ticks are skipped.

use std::thread;
use std::time::{Duration, Instant};

/// If a tick is later than this, for example because the process was frozen, the missed ticks are skipped.
const MOST_LATE: Duration = Duration::from_millis(250);

/// Runs ticks at a fixed rate, and sleeps between them.
pub(crate) struct Metronome {
    start: Instant,
    interval: Duration,
    next: Duration,
    now: Duration,
}

impl Metronome {
    /// Returns a metronome with this number of ticks in a second. The first tick does not wait.
    pub(crate) fn at_hz(hz: u32) -> Self {
        let interval = Duration::from_secs(1) / hz.max(1);
        Self { start: Instant::now(), interval, next: Duration::ZERO, now: Duration::ZERO }
    }

    /// Returns the time from the start to the last tick.
    pub(crate) fn now(&self) -> Duration {
        self.now
    }

    /// Sleeps until the next tick, and returns its time.
    pub(crate) fn tick(&mut self) -> Duration {
        let early = self.next.saturating_sub(self.start.elapsed());
        if !early.is_zero() {
            thread::sleep(early);
        }
        self.now = self.start.elapsed();
        if self.now > self.next + MOST_LATE {
            self.next = self.now;
        }
        self.next += self.interval;
        self.now
    }
}
