//! Bots fight in a small arena on a server. Clients join over a network that delays, loses and reorders
//! packets. At the end each client must have exactly the state that it may see.
//!
//! Start with `model.rs`, which declares the objects: which properties are replicated, to whom, and how.
//! `game.rs`, `bots.rs` and `pack.rs` change it, `sight.rs` decides who sees what, and `session.rs` moves the
//! packets. The other files check and report.
//!
//! *Invariant:* the arguments decide the whole run: it reads no clock, and all random numbers come from the
//! seed.

#[path = "../support/mod.rs"]
mod support;

mod args;
mod bots;
mod game;
mod model;
mod pack;
mod plane;
mod report;
mod secrets;
mod session;
mod sight;
mod view;

use std::process::ExitCode;

use args::Args;
use clap::Parser;
use report::Outcome;
use session::Session;
use support::Progress;

fn main() -> ExitCode {
    support::exit_code("arena", Ok(play(&Args::parse())))
}

/// Plays a match. Returns whether every client converged and no secret leaked.
fn play(args: &Args) -> bool {
    let mut session = Session::new(args);
    let mut progress = Progress::new(args.ticks.into());
    for tick in 0..args.ticks {
        // Clients join one after another during the first quarter.
        while session.watchers.len() < args.clients as usize
            && tick >= session.watchers.len() as u32 * (args.ticks / 4) / args.clients
        {
            session.connect();
        }
        session.play();
        progress.show(u64::from(tick) + 1, || report::progress(&session, tick + 1));
    }
    let mut outcome = Outcome::of_match(&session, args);
    outcome.converged = session.converge();
    session.fall_silent();
    session.encore();
    outcome.converged &= session.converge();
    outcome.finish(&session);
    if args.json {
        outcome.print_json();
    } else {
        report::print_traffic(&session);
        report::print_clients(&session);
        outcome.print(&session);
    }
    outcome.converged && outcome.leaks == 0
}
