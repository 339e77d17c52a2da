//! Clients fight in a small arena on a server, over a network that delays, loses and reorders packets. Bots
//! play the players without a client. At the end each client must have exactly the state that it may see.
//!
//! Start with `model.rs`, which declares the objects: which properties are replicated, to whom, and how. Then
//! read `calls.rs`, which declares the messages and the remote calls, and `pilot.rs`, which plays on a
//! client. `game.rs`, `bots.rs` and `pack.rs` change the objects on the server, `sight.rs` decides who sees
//! what, `chat.rs` is the chat, and `session.rs` and `guest.rs` move the packets, over the network of
//! `simulated.rs`. `host.rs` plays in the process of the server. `film.rs` records a match, `picture.rs`
//! draws it and `watch.rs` shows it on a terminal. The other files check and report.
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
mod bots;
mod calls;
mod chat;
mod film;
mod game;
mod guest;
mod host;
#[cfg(feature = "quic")]
#[path = "../support/metronome.rs"]
mod metronome;
mod model;
#[cfg(not(feature = "quic"))]
#[path = "offline.rs"]
mod online;
#[cfg(feature = "quic")]
mod online;
mod pace;
mod pack;
mod picture;
mod pilot;
mod plan;
mod plane;
mod report;
mod secrets;
mod session;
mod sight;
mod simulated;
#[cfg(test)]
mod tests;
mod transport;
mod view;
mod watch;

use std::error::Error;
use std::process::ExitCode;

use args::{Args, Carrier, Command};
use clap::Parser;
use film::Film;
use pace::Pace;
use report::Outcome;
use session::Session;
use simulated::Simulated;
use support::Progress;
use transport::Transport;
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
