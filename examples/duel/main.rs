//! Four bots walk and shoot at each other over four links of a simulated network, from a good one to a bad
//! one. Each bot sees its own moves at once, and the other bots move smoothly. A shot hits what the shooter
//! saw.
//!
//! Start with `model.rs`, which declares the class and the input and has the step that both sides share.
//! `player.rs` is a client: it makes inputs, predicts, smooths and shows. `referee.rs` is the server: it
//! uses the inputs, and judges shots by the past of their targets. `session.rs` moves the packets.
//! `report.rs` and `picture.rs` show the results.
//!
//! The figures of `--json` are computed over all bots together:
//!
//! - `missing`: the share of the ticks for which an input was missing.
//! - `ahead_ticks`: how many ticks the inputs of a bot are ahead of the server's clock as the bot sees it.
//! - `rollbacks`: the share of the confirmed ticks that were predicted wrongly.
//! - `hits`: the share of the shots that hit with lag compensation.
//! - `hits_uncompensated`: the share of the shots that would have hit without lag compensation.
//! - `converged`: whether at the end, when all stand still, all clients have the state of the server.
//!
//! *Invariant:* the same arguments make the same match.

#[path = "../support/mod.rs"]
#[allow(dead_code, reason = "each example uses a part")]
mod support;

mod args;
mod model;
mod picture;
mod player;
mod referee;
mod report;
mod session;
#[cfg(test)]
mod tests;

use std::error::Error;
use std::process::ExitCode;

use args::Args;
use clap::Parser;
use report::Outcome;
use session::Session;
use support::Progress;

fn main() -> ExitCode {
    support::exit_code("duel", run())
}

fn run() -> Result<bool, Box<dyn Error>> {
    let args = Args::parse();
    let mut progress = Progress::new(args.seconds);
    let mut session = Session::new(&args);
    for second in 1..=args.seconds {
        session.play_second();
        progress.show(second, || format!("{} shots", session.referee.shots()));
    }
    let outcome = Outcome::of(&mut session);
    if let Some(file) = &args.svg {
        std::fs::write(file, picture::svg(&session, &outcome))?;
    }
    if args.json {
        outcome.print_json();
    } else {
        outcome.print();
    }
    Ok(outcome.is_good())
}
