//! Hundreds of connections walk through a world with thousands of objects, over a simulated network that
//! delays, loses and reorders packets. Each client receives only the objects near its avatar. At the end each
//! client must have exactly the objects that a naive model computes from distances.
//!
//! In each tick a few connections join (`--joins-per-tick`, 4 by default), until all have joined. Everything
//! moves for `--ticks` ticks, 30 in a second. Then it comes to rest, and the clients get time to converge.
//!
//! Start with `model.rs`, which declares the objects, and `world.rs`, which spawns and moves them on the
//! server and says who sees them. `session.rs` moves the packets. `sight.rs` is the naive model, and the
//! other files measure and report.
//!
//! The figures of `--json`:
//!
//! - `tick_us`: the processor time of a tick of the server, including the calls of `set_viewpoints` before
//!   it. On systems that do not report the processor time, it is the elapsed time.
//! - `over_budget`: for each connection, the number of seconds in which it was sent more than its budget
//!   plus one packet, added up over all connections.
//! - `oldest_wait`: the longest time in ticks that a client lacked a change, or an object near it.
//! - `starved`: how many times a client lacked a change of an object for at least 120 ticks. For both
//!   figures, waits are counted after the client has received all objects of its join. A wait ends when the
//!   change arrives on the client.
//! - `leaks`: the number of canaries in packets to connections that may not see them.
//!
//! *Invariant:* the same arguments make the same run. Only the measured times differ from run to run.

#[path = "../support/mod.rs"]
mod support;

mod args;
mod canary;
mod cpu_clock;
mod entry;
mod guest;
mod model;
mod picture;
mod report;
mod session;
mod sight;
#[cfg(test)]
mod tests;
mod watch;
mod world;

use std::error::Error;
use std::process::ExitCode;

use args::Args;
use clap::Parser;
use report::Outcome;
use session::Session;
use support::Progress;

fn main() -> ExitCode {
    support::exit_code("open_world", run())
}

fn run() -> Result<bool, Box<dyn Error>> {
    let args = Args::parse().checked()?;
    let mut progress = Progress::new(args.ticks.into());
    let (session, outcome) = play(&args, |session, tick| {
        progress.show(tick.into(), || report::progress(session, tick));
    });
    if let Some(file) = &args.svg {
        std::fs::write(file, picture::svg(&session.watch.seconds, args.budget))?;
    }
    if args.json {
        outcome.print_json();
    } else {
        report::print_traffic(&session);
        outcome.print(&session);
    }
    Ok(outcome.is_good())
}

/// Runs everything. Calls `after_tick` after each tick.
fn play(args: &Args, mut after_tick: impl FnMut(&Session, u32)) -> (Session, Outcome) {
    let mut session = Session::new(args);
    for tick in 1..=args.ticks {
        session.play();
        after_tick(&session, tick);
    }
    let mut outcome = Outcome::of_walk(&session, args);
    outcome.converged = session.converge();
    outcome.finish(&session);
    (session, outcome)
}
