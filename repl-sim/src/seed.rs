//! The seeds of a test, and the report of a seed that failed.
//!
//! *Invariant:* the line that a failing test prints contains the environment variable that repeats the
//! failure.

use std::ops::Range;

/// Returns the seeds of a test: the range, or only the seed in the environment variable `SIM_SEED` if this
/// variable is set. To repeat a failure without changing the test, set this variable to the seed that
/// [`SeedReport`] printed. The environment variable `SIM_TIMES` multiplies the length of the range, for
/// example for tests that run all night.
///
/// # Panics
/// Panics if `SIM_SEED` or `SIM_TIMES` is set but is not a number.
pub fn seeds(range: Range<u64>) -> Range<u64> {
    match (std::env::var("SIM_SEED"), std::env::var("SIM_TIMES")) {
        (Ok(seed), _) => only(&seed),
        (Err(_), Ok(times)) => longer(range, &times),
        (Err(_), Err(_)) => range,
    }
}

fn longer(range: Range<u64>, times: &str) -> Range<u64> {
    match times.trim().parse::<u64>() {
        Ok(times) => range.start..range.start + (range.end - range.start) * times,
        Err(_) => panic!("SIM_TIMES is not a number: {times}"),
    }
}

fn only(seed: &str) -> Range<u64> {
    match seed.trim().parse::<u64>() {
        Ok(first) if first < u64::MAX => first..first + 1,
        _ => panic!("SIM_SEED is not a number below 2^64 - 1: {seed}"),
    }
}

/// Prints `SIM_SEED=… SIM_TICKS=…` to standard error if this value is dropped during a panic. A panic during
/// a test means that the test has failed.
///
/// ```
/// # mod repl { pub(crate) use repl_sim as sim; }
/// use repl::sim::{Clock, Network, SeedReport, seeds};
///
/// for seed in seeds(0..20) {
///     let mut report = SeedReport::new(seed);
///     let mut network = Network::new(seed);
///     let mut clock = Clock::at_hz(60);
///     for _ in 0..100 {
///         let now = clock.tick();
///         report.reached(clock.ticks());
///         assert!(network.deliver(now).is_none());
///     }
/// }
/// ```
#[derive(Debug)]
pub struct SeedReport {
    seed: u64,
    ticks: u64,
}

impl SeedReport {
    /// Returns a report for the seed `seed`. Keep this report in a variable as long as the test runs with
    /// this seed.
    #[must_use = "a report that is dropped at once reports nothing"]
    pub const fn new(seed: u64) -> Self {
        Self { seed, ticks: 0 }
    }

    /// Records that the run has reached this tick.
    pub const fn reached(&mut self, ticks: u64) {
        self.ticks = ticks;
    }

    /// Returns the seed of the report.
    pub const fn seed(&self) -> u64 {
        self.seed
    }
}

impl std::fmt::Display for SeedReport {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "SIM_SEED={} SIM_TICKS={}", self.seed, self.ticks)
    }
}

impl Drop for SeedReport {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{self}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_names_seed_and_tick() {
        let mut report = SeedReport::new(17);
        report.reached(250);
        assert_eq!(report.to_string(), "SIM_SEED=17 SIM_TICKS=250");
        assert_eq!(report.seed(), 17);
    }

    #[test]
    fn a_seed_of_the_environment_runs_alone() {
        assert_eq!(only(" 99\n"), 99..100);
        assert!(std::panic::catch_unwind(|| only("ninety")).is_err());
    }

    #[test]
    fn a_range_is_so_many_times_as_long() {
        assert_eq!(longer(100..130, "10"), 100..400);
        assert!(std::panic::catch_unwind(|| longer(0..1, "ten")).is_err());
    }
}
