//! Measures both sides of a game in slices, in which they alternate tick by tick.
//!
//! *Invariant:* each printed time is the median over all slices. Each printed ratio is the median of the
//! ratios of the two sides within one slice.

use std::io::{self, Write};
use std::time::Duration;

use crate::game::{Game, Running, Times};

const SLICES: usize = 15;
/// How long both servers together should work in a slice, at least.
const LEAST: Duration = Duration::from_millis(20);

/// Prints one line: for each side the elapsed time of a tick, its processor time, and the bytes to one
/// client, then the ratios of the sides.
pub(crate) fn report<G: Game>(name: &str, running: &mut Running<G>) {
    let ticks = ticks_of_slice(running);
    let bytes = running.bytes(256);
    let slices: Vec<[Times; 2]> = (0..SLICES).map(|_| running.slice(ticks)).collect();
    let of = |side: usize, clock: fn(&Times) -> Duration| {
        slices.iter().map(move |slice| clock(&slice[side]).as_secs_f64() * 1e6 / ticks as f64)
    };
    let ratio = |clock| median(of(0, clock).zip(of(1, clock)).map(|(one, other)| one / other));
    let mut line = format!("games  {name:<29}");
    for (side, who) in ["repl", "hand"].into_iter().enumerate() {
        let (wall, cpu) = (median(of(side, |times| times.wall)), median(of(side, |times| times.cpu)));
        line += &format!("  {who} {wall:>7.1} µs (CPU {cpu:>7.1}) {:>4} B", bytes[side]);
    }
    let (wall, cpu) = (ratio(|times: &Times| times.wall), ratio(|times: &Times| times.cpu));
    line += &format!("  repl/hand {wall:.2} (CPU {cpu:.2})  {SLICES} slices of {ticks} ticks");
    // An output error is ignored, so that the measurement continues when nobody reads its output any more.
    let _ = writeln!(io::stdout(), "{line}");
}

/// Returns the number of ticks after which both servers together have worked for [`LEAST`].
fn ticks_of_slice<G: Game>(running: &mut Running<G>) -> u64 {
    let mut ticks = 16;
    loop {
        let time: Duration = running.slice(ticks).iter().map(|times| times.wall).sum();
        if time >= LEAST {
            return ticks;
        }
        ticks *= 2;
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
