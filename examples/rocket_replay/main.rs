//! Replays a match that a game on Unreal Engine recorded, replicates it with `repl`, and compares the bytes.
//!
//! Every actor of the recording becomes an object of a server, every update a write to one of its fields. Clients receive them over the
//! simulated network. After every frame each client must hold exactly what the decoder read from the file, bit for bit.
//!
//! *Invariant:* a client's objects are compared with the recording, not with what was sent.

#[path = "../support/number.rs"]
mod number;

mod args;
mod codec;
mod model;
mod recording;
mod report;
mod session;
mod stage;
mod truth;
mod unreal;
mod values;

use std::error::Error;
use std::process::ExitCode;

use args::{Args, Command};
use recording::Recording;
use report::{Ledger, Outcome};
use session::Session;
use truth::Truth;

#[expect(clippy::print_stdout, reason = "the help")]
fn main() -> ExitCode {
    let result = match Command::parse(std::env::args().skip(1)) {
        Ok(Command::Help) => {
            println!("{}", args::HELP);
            return ExitCode::SUCCESS;
        }
        Ok(Command::Run(args)) => run(&args),
        Err(mistake) => Err(mistake.into()),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("rocket_replay: {error}");
            ExitCode::from(2)
        }
    }
}

/// Replays a file; says whether every client came to hold all of it.
fn run(args: &Args) -> Result<bool, Box<dyn Error>> {
    let recording = Recording::open(&args.file)?;
    let mut session = Session::connected(args)?;
    let (mut truth, mut ledger) = (Truth::default(), Ledger::new());
    let frames = recording.frames();
    let instant = args.loss == 0.0 && args.latency.is_zero();
    let mut exact = true;
    for (index, frame) in frames.iter().enumerate() {
        let changes = recording::changes(frame);
        session.play(&recording, frame, &changes);
        truth.learn(frame, &changes);
        if instant {
            exact &= session.is_exact(&recording, &truth);
        }
        ledger.add(&recording, &session.stage, frame, &changes);
        report::progress(index + 1, frames.len(), session.sent().0);
    }
    let converged = session.converge(&recording, &truth);
    let (repl_bytes, packets) = session.sent();
    let outcome = Outcome {
        frames: frames.len(),
        played: session.stage.played,
        unreal_bytes: recording.stream_bytes as u64,
        repl_bytes,
        packets,
        packets_lost: session.lost(),
        exact: exact && converged,
        converged,
        clients: args.clients,
        loss: args.loss,
    };
    if args.json {
        outcome.print_json();
    } else {
        ledger.print(&outcome, |class| session.class_bits(class));
        outcome.print();
    }
    Ok(outcome.exact && converged)
}
