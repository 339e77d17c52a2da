//! Ratios between the times of candidates that do the same work. The candidates are measured in turns, so
//! that other load of the machine affects all of them equally.
//!
//! *Invariant:* a ratio is the median over many rounds. In each round, both times are measured one right
//! after the other.

use std::hint::black_box;
use std::io::{self, Write};
use std::time::{Duration, Instant};

const ROUNDS: usize = 31;
/// How long one turn of the fastest candidate should last.
const TURN: Duration = Duration::from_millis(2);

/// One of several ways to do the same work.
pub(crate) struct Side<'a> {
    name: &'static str,
    run: &'a mut dyn FnMut(u64) -> Duration,
    wire_bytes: Option<u64>,
}

impl<'a> Side<'a> {
    /// Returns a side. `run` does the work as many times as its argument says, and returns the elapsed time.
    /// `wire_bytes` is how many bytes one client receives each time, if anything is sent.
    pub(crate) fn new(
        name: &'static str,
        wire_bytes: Option<u64>,
        run: &'a mut dyn FnMut(u64) -> Duration,
    ) -> Self {
        Self { name, run, wire_bytes }
    }
}

/// Runs all sides in turns and prints one line: the median time of each side, and for each other side the
/// time of the first side divided by its time.
#[allow(dead_code, reason = "each bench uses a part")]
pub(crate) fn report(work: &str, sides: &mut [Side<'_>]) {
    report_rounds(ROUNDS, work, sides);
}

/// Does the same as [`report`] in `rounds` rounds.
pub(crate) fn report_rounds(rounds: usize, work: &str, sides: &mut [Side<'_>]) {
    let turns: Vec<u64> = sides.iter_mut().map(|side| turns_of(side.run)).collect();
    let mut times = vec![Vec::with_capacity(rounds); sides.len()];
    for _ in 0..rounds {
        for ((side, turns), times) in sides.iter_mut().zip(&turns).zip(&mut times) {
            times.push((side.run)(*turns).as_secs_f64() / *turns as f64);
        }
    }
    let mut line = format!("ratios  {work:<28}");
    for (side, times) in sides.iter().zip(&times) {
        line += &format!("  {} {}", side.name, microseconds(median(times.clone())));
        if let Some(bytes) = side.wire_bytes {
            line += &format!(" {bytes} B");
        }
    }
    let Some((first, others)) = times.split_first() else { return };
    for (side, times) in sides.iter().skip(1).zip(others) {
        let ratios = first.iter().zip(times).map(|(first, other)| first / other).collect();
        line += &format!("  {}/{} {:.2}", sides[0].name, side.name, median(ratios));
    }
    // An output error is ignored, so that the measurement continues when nobody reads its output any more.
    let _ = writeln!(io::stdout(), "{line}");
}

/// Returns how long it takes to do the work `count` times.
#[allow(dead_code, reason = "each bench uses a part")]
pub(crate) fn timed<T>(count: u64, mut work: impl FnMut() -> T) -> Duration {
    let start = Instant::now();
    for _ in 0..count {
        black_box(work());
    }
    start.elapsed()
}

/// Returns whether the program was started to measure, and not only to check that it runs.
pub(crate) fn are_wanted() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}

/// Returns how many times the work is done in one turn.
fn turns_of(run: &mut dyn FnMut(u64) -> Duration) -> u64 {
    let mut turns = 1;
    loop {
        let time = run(turns);
        if time * 2 >= TURN {
            return turns;
        }
        turns *= 2;
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn microseconds(seconds: f64) -> String {
    let microseconds = seconds * 1e6;
    if microseconds < 10.0 { format!("{microseconds:.3} µs") } else { format!("{microseconds:.0} µs") }
}
