//! The processor time of this thread.
//!
//! *Invariant:* a measured time does not contain the time for reading the clock.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

/// Measures the processor time of this thread if the system has a file with it, as Linux does. Otherwise it
/// measures the elapsed time.
pub(crate) struct CpuClock {
    start: Instant,
    pub(crate) measures_processor_time: bool,
    /// How much time the clock shows between two readings with no work between them. `measure` subtracts this
    /// time.
    reading: Duration,
}

impl CpuClock {
    pub(crate) fn new() -> Self {
        let measures_processor_time = processor_time().is_some();
        let mut clock = Self { start: Instant::now(), measures_processor_time, reading: Duration::ZERO };
        let readings = (0..100).map(|_| clock.measure(|| ()).1);
        clock.reading = readings.min().unwrap_or_default();
        clock
    }

    /// Returns the time since a fixed start.
    fn now(&self) -> Duration {
        let time = self.measures_processor_time.then(processor_time).flatten();
        time.unwrap_or_else(|| self.start.elapsed())
    }

    /// Returns the result of `work` and the time that it took.
    pub(crate) fn measure<T>(&self, work: impl FnOnce() -> T) -> (T, Duration) {
        let before = self.now();
        let result = work();
        (result, self.now().saturating_sub(before + self.reading))
    }
}

/// Returns the processor time of this thread, from the first number of the file.
fn processor_time() -> Option<Duration> {
    // The kernel updates the number in the file when the thread yields.
    thread::yield_now();
    let file = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(file.split_whitespace().next()?.parse().ok()?))
}
