//! A server under load: hundreds of clients in another process, over QUIC and real UDP sockets, and thousands
//! of objects. Many of the objects change in each tick.
//!
//! The program starts a second process of itself for the clients. When all clients have joined, the world
//! moves for `--seconds`, and each tick of the server is measured: the processor time of its thread, and the
//! elapsed time. Then the world comes to rest, and each client reports a hash over all its objects and their
//! properties. `converged` says that each hash equals the hash of the objects that the client may see on the
//! server.
//!
//! Start with `model.rs` and `world.rs`, which are the load. Then read `venue.rs`, the server, and
//! `crowd.rs`, the clients. `helper.rs` is the other process as the server sees it. The other files measure
//! and report.
//!
//! The figures of `--json`: `cpu_p99_ms` and `wall_p99_ms` are measured while the world moves.
//! `bytes_per_second` are the bytes that `repl` passed to QUIC for all clients. `losses` are packets that
//! count as lost on the server: packets that did not arrive, and packets with acks that came too late.
//! `disconnects` counts all sessions that ended before the end of the run.
//!
//! *Invariant:* the measured time contains all work of the server's thread in a tick: receiving, moving the
//! world, comparing, encrypting and sending.

#[path = "../support/metronome.rs"]
mod metronome;
#[path = "../support/progress.rs"]
mod progress;

mod args;
mod crowd;
mod figures;
mod helper;
mod model;
mod picture;
mod report;
mod times;
mod venue;
mod world;

use std::error::Error;
use std::process::ExitCode;

use args::{Args, Command};
use clap::Parser;
use progress::Progress;
use report::Outcome;
use venue::Venue;

fn main() -> ExitCode {
    let args = Args::parse();
    let result = match &args.command {
        Some(Command::Crowd(crowd)) => crowd::run(crowd).map(|()| true),
        None => run(&args),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("load: {error}");
            ExitCode::from(2)
        }
    }
}

/// Runs everything. Returns whether all checks passed.
fn run(args: &Args) -> Result<bool, Box<dyn Error>> {
    let mut venue = Venue::open(args)?;
    venue.fill()?;
    let ticks = args.seconds * args.hz;
    let mut progress = Progress::new(ticks.into());
    for tick in 1..=ticks {
        venue.play()?;
        progress.show(tick.into(), || venue.text(tick));
    }
    let mut outcome = Outcome::of_load(&venue, args);
    outcome.finish(venue.converge()?, venue.leave()?);
    if let Some(file) = &args.svg {
        std::fs::write(file, picture::svg(&venue.ticks, args.hz))?;
    }
    if args.json {
        outcome.print_json();
    } else {
        outcome.print(&venue);
    }
    Ok(outcome.is_good())
}
