//! Replays a match that a game on Unreal Engine recorded, replicates it with `repl`, and compares the bytes.
//!
//! Every actor of the recording becomes an object of a server, and every update becomes a write to one of its
//! fields. Clients receive the objects over the simulated network. After every frame each client must have
//! exactly the values that the decoder read from the file, bit for bit.
//!
//! *Invariant:* a client's objects are compared with the recording, not with the data that was sent.

#[path = "../support/mod.rs"]
mod support;

mod args;
mod codec;
mod kind;
mod lacks;
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

use args::Args;
use clap::Parser;
use recording::Recording;
use report::{Ledger, Outcome};
use session::Session;
use support::Progress;
use truth::Truth;

fn main() -> ExitCode {
    support::exit_code("rocket_replay", run(&Args::parse()))
}

/// Replays a file. Returns whether every client received the whole recording.
#[expect(clippy::print_stdout, reason = "the example's output")]
fn run(args: &Args) -> Result<bool, Box<dyn Error>> {
    let recording = Recording::open(&args.file)?;
    let mut session = Session::connected(args)?;
    let (mut truth, mut ledger) = (Truth::default(), Ledger::new());
    let frames = recording.frames();
    let mut progress = Progress::new(frames.len() as u64);
    let instant = args.loss == 0.0 && args.latency_ms == 0;
    let mut differs = None;
    for (index, frame) in frames.iter().enumerate() {
        let changes = recording::changes(frame);
        let is_played = session.play(&recording, frame, &changes);
        truth.learn(frame, changes.iter().zip(is_played));
        if instant && differs.is_none() {
            differs =
                session.difference(&recording, &truth).map(|what| format!("{what}, after frame {index}"));
        }
        ledger.add(&recording, &session.stage, frame, &changes);
        progress.show(index as u64 + 1, || {
            format!("{} frames, {} bytes to each client", frames.len(), session.sent().0)
        });
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
        lacks: session.stage.lacks.lines(),
        differs: differs.or_else(|| session.difference(&recording, &truth)),
        converged,
        clients: args.clients,
        loss: args.loss,
    };
    if args.json {
        outcome.print_json();
    } else {
        println!("{}: {}", args.file.display(), recording.version());
        ledger.print(&outcome, |class| session.class_bits(class));
        outcome.print();
    }
    Ok(outcome.is_exact() && converged)
}
