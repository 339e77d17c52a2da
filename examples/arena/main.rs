//! Clients fight in a small arena on a server, over a network that delays, loses and reorders packets. Bots
//! play the players without a client. At the end each client must have exactly the state that it may see.
//!
//! Start with `model.rs`, which declares the objects: which properties are replicated, to whom, and how. Then
//! read `calls.rs`, which declares the messages and the remote calls, and `pilot.rs`, which plays on a
//! client. `game.rs`, `bots.rs` and `pack.rs` change the objects on the server, `sight.rs` decides who sees
//! what, `chat.rs` passes lines on, and `session.rs` and `guest.rs` move the packets. `host.rs` plays in the
//! process of the server. The other files check and report.
//!
//! *Invariant:* the arguments decide the whole run: it reads no clock, and all random numbers come from the
//! seed.

#[path = "../support/mod.rs"]
mod support;

mod args;
mod bots;
mod calls;
mod chat;
mod game;
mod guest;
mod host;
mod model;
mod pack;
mod pilot;
mod plan;
mod plane;
mod report;
mod secrets;
mod session;
mod sight;
#[cfg(test)]
mod tests;
mod view;

use std::process::ExitCode;

use args::Args;
use clap::Parser;
use report::Outcome;
use session::Session;
use support::Progress;

fn main() -> ExitCode {
    let args = Args::parse();
    let mut progress = Progress::new(args.ticks.into());
    let (session, outcome) = play(&args, |session, tick| {
        progress.show(tick.into(), || report::progress(session, tick));
    });
    if args.json {
        outcome.print_json();
    } else {
        report::print_traffic(&session);
        report::print_clients(&session);
        outcome.print(&session);
    }
    support::exit_code("arena", Ok(outcome.is_good()))
}

/// Plays a match. Calls `after_tick` after each tick.
fn play(args: &Args, mut after_tick: impl FnMut(&Session, u32)) -> (Session, Outcome) {
    let mut session = Session::new(args);
    for tick in 0..args.ticks {
        // Clients join one after another during the first quarter.
        while session.guests.len() < args.clients as usize
            && tick >= session.guests.len() as u32 * (args.ticks / 4) / args.clients
        {
            session.connect();
        }
        session.play();
        after_tick(&session, tick + 1);
    }
    let mut outcome = Outcome::of_match(&session, args);
    outcome.converged = session.converge();
    session.fall_silent();
    session.encore();
    outcome.converged &= session.converge();
    outcome.finish(&session);
    (session, outcome)
}
