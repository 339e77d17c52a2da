//! Clients fight in a small arena on a server, over a network that delays, loses and reorders packets. Bots
//! play the players without a client. At the end each client must have exactly the state that it may see.
//!
//! The game itself is the package `examples/arena_game`, which the example `arena_web` shares: begin there
//! with `model.rs`. `simulated.rs` is the network. `film.rs` records a match, `picture.rs` draws it and
//! `watch.rs` shows it on a terminal. The other files read the arguments, check and report.
//!
//! With the feature `quic` the match can also run over UDP, encrypted: with `serve` and `join` the server and
//! each client have their own processes, and with `--transport quic` all run in one process. This code is in
//! the folder `online`.
//!
//! *Invariant:* on the simulated network the arguments decide the whole run: it reads no clock, and all
//! random numbers come from the seed.

#[path = "../support/mod.rs"]
mod support;

mod args;
mod film;
#[cfg(not(feature = "quic"))]
#[path = "offline.rs"]
mod online;
#[cfg(feature = "quic")]
mod online;
mod picture;
mod report;
mod simulated;
#[cfg(test)]
mod tests;
mod watch;

use std::error::Error;
use std::process::ExitCode;

use arena_game::pace::Pace;
use arena_game::session::Session;
use arena_game::transport::Transport;
use args::{Args, Carrier, Command};
use clap::Parser;
use film::Film;
use report::Outcome;
use simulated::Simulated;
use support::Progress;
use watch::Screen;

fn main() -> ExitCode {
    let args = Args::parse();
    let result = match &args.command {
        Some(Command::Serve(serve)) => online::serve(serve),
        Some(Command::Join(join)) => online::join(join),
        None => run(&args),
    };
    support::exit_code("arena", result)
}

/// Plays a match in this process. Returns whether all checks passed.
fn run(args: &Args) -> Result<bool, Box<dyn Error>> {
    let mut progress = Progress::new(args.ticks.into());
    let mut film = Film::default();
    let mut screen = if args.watch { Some(Screen::new()?) } else { None };
    let (session, outcome) = play(args, |session, tick| {
        if args.svg.is_some() {
            film.record(session, tick);
        }
        match &mut screen {
            Some(screen) => screen.show(session, tick),
            None => progress.show(tick.into(), || report::progress(session, tick)),
        }
    })?;
    if let Some(file) = &args.svg {
        std::fs::write(file, picture::svg(&film, &session))?;
    }
    if args.json {
        outcome.print_json();
    } else {
        report::print_traffic(&session);
        report::print_clients(&session);
        outcome.print(&session);
    }
    Ok(outcome.is_good())
}

/// Plays a match. Calls `after_tick` after each tick.
fn play(
    args: &Args,
    mut after_tick: impl FnMut(&Session, u32),
) -> Result<(Session, Outcome), Box<dyn Error>> {
    let transport: Box<dyn Transport> = match args.transport {
        Carrier::Sim => Box::new(Simulated::new(args)),
        Carrier::Quic => online::loopback()?,
    };
    let mut session = Session::new(args.into(), transport, Pace::fast());
    for tick in 0..args.ticks {
        // Clients join one after another during the first quarter.
        while session.guests.len() < args.clients as usize
            && tick >= session.guests.len() as u32 * (args.ticks / 4) / args.clients
        {
            session.connect()?;
        }
        session.play()?;
        after_tick(&session, tick + 1);
    }
    let mut outcome = Outcome::of_match(&session, args);
    outcome.converged = session.converge()?;
    session.fall_silent()?;
    session.encore();
    outcome.converged &= session.converge()?;
    outcome.finish(&session);
    Ok((session, outcome))
}
