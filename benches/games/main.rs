//! Whole games, each compared with a hand-written server for this game: objects that live for a second, small
//! servers, and many connections that see a part of the world.
//!
//! Each game is played in three ways: without loss, with a loss of 5 %, and with half of the bytes that it
//! needs as budget. An argument chooses the games whose names contain it. Without `--bench`, a game is only
//! checked and then played for a few more ticks. `--ticks=100` sets the number of these ticks. To profile
//! single ticks, profile two runs with different numbers and subtract the results.
//!
//! *Invariant:* the clients of both sides are checked before anything is measured.

#[allow(dead_code, reason = "each bench uses a part")]
#[path = "../support/bits.rs"]
mod bits;
#[path = "../support/config.rs"]
mod config;
#[path = "../support/cpu.rs"]
mod cpu;
mod eyes;
mod fields;
mod game;
mod grid;
mod listen;
mod rival;
mod shared;
mod shooter;
mod sighted;
mod slices;

use game::{Game, Link, Running};

/// Returns whether the program was started to measure, and not only to check that it runs.
fn are_times_wanted() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}

/// Returns whether a game was chosen by the arguments of the program.
fn is_chosen(name: &str) -> bool {
    let mut chosen = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).peekable();
    chosen.peek().is_none() || chosen.any(|part| name.contains(&part))
}

/// Returns how many ticks are played if nothing is measured.
fn ticks_of_trial() -> u64 {
    let ticks = std::env::args().find_map(|argument| argument.strip_prefix("--ticks=")?.parse().ok());
    ticks.unwrap_or(10)
}

fn play<G: Game>() {
    for link in [Link::Perfect, Link::Lossy, Link::Narrow] {
        let name = format!("{}/{}", G::NAME, link.name());
        if is_chosen(&name) {
            let mut running = Running::<G>::new(link);
            if are_times_wanted() {
                slices::report(&name, &mut running);
            } else {
                running.slice(ticks_of_trial());
            }
        }
    }
}

fn main() {
    play::<shooter::Shooter>();
    play::<listen::ListenServer>();
    play::<eyes::ManyEyes<200>>();
    if are_times_wanted() {
        play::<eyes::ManyEyes<1_000>>();
    }
}
