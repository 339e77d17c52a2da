//! Replays real keystrokes on a server's document and shows them to clients over a network that delays, loses
//! and reorders packets.
//!
//! The text is an [`OrderedFastArray`](repl::OrderedFastArray) of characters, or with `--plain` a
//! `String` that is sent as differences. Each keystroke costs each client a few bytes. At the end every
//! client must have the last text of the recording.
//!
//! *Invariant:* the arguments determine the whole output, except for the elapsed time. The texts of the
//! clients are compared with the recording, not with the server.

#[path = "../support/mod.rs"]
mod support;

mod args;
mod document;
mod report;
mod session;
mod trace;

use std::error::Error;
use std::process::ExitCode;
use std::time::Instant;

use args::Args;
use clap::Parser;
use report::Outcome;
use session::Session;
use support::Progress;
use trace::Trace;

fn main() -> ExitCode {
    support::exit_code("shared_document", run(&Args::parse()))
}

/// Replays a trace. Returns whether every client ends with the final text of the recording.
fn run(args: &Args) -> Result<bool, Box<dyn Error>> {
    let trace = Trace::open(&args.trace)?;
    let start = Instant::now();
    let mut session = Session::new(args, &trace);
    if !session.open() {
        return Err("not every client could connect".into());
    }
    let mut progress = Progress::new(trace.transactions.len() as u64);
    let mut typed = 0;
    for (at, transaction) in trace.transactions.iter().enumerate() {
        transaction.iter().for_each(|patch| session.apply(patch));
        typed += transaction.len();
        let done = at + 1;
        if typed >= args.batch as usize || done == trace.transactions.len() {
            session.tick();
            progress.show(done as u64, || report::progress(&session));
            typed = 0;
        }
    }
    let converged = session.converge(&trace.end);
    let outcome = Outcome::new(&session, &trace, converged, start.elapsed());
    if args.json {
        outcome.print_json();
    } else {
        outcome.print(&session, &trace);
    }
    Ok(outcome.converged)
}
