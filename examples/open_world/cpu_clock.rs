//! The processor time of this thread.
//!
//! *Invariant:* the time for reading the clock is not part of what it measures.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

/// Measures processor time if the system has a file with the processor time of the thread, as Linux does.
/// Otherwise it measures the time that passes.
pub(crate) struct CpuClock {
    start: Instant,
    pub(crate) measures_processor_time: bool,
    /// The time that passes between two readings with nothing between them.
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
    // The kernel brings the number up to date when the thread yields.
    thread::yield_now();
    let file = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(file.split_whitespace().next()?.parse().ok()?))
}
