//! Replays real keystrokes on a server's document and shows them to clients over a network that delays, loses and reorders packets.
//!
//! The text is an [`OrderedFastArray`](repl::OrderedFastArray) of characters: each keystroke inserts or removes items in the middle, and costs each client
//! a few bytes. At the end every client must have the text that the recording ends with.
//!
//! *Invariant:* everything but the time it takes follows from the arguments; texts are compared with the recording, not with the server.

#[path = "../support/number.rs"]
mod number;

mod args;
mod report;
mod session;
mod trace;

use std::error::Error;
use std::process::ExitCode;
use std::time::Instant;

use args::{Args, Command};
use report::Outcome;
use session::Session;
use trace::Trace;

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
            eprintln!("shared_document: {error}");
            ExitCode::from(2)
        }
    }
}

/// Replays a trace; says whether every client came to have its final text.
fn run(args: &Args) -> Result<bool, Box<dyn Error>> {
    let trace = Trace::open(&args.trace)?;
    let start = Instant::now();
    let mut session = Session::new(args, &trace);
    if !session.open() {
        return Err("not every client could connect".into());
    }
    let (mut typed, mut told) = (0, 0);
    for (at, transaction) in trace.transactions.iter().enumerate() {
        transaction.iter().for_each(|patch| patch.apply(session.text()));
        typed += transaction.len();
        let done = at + 1;
        if typed >= args.batch || done == trace.transactions.len() {
            session.tick();
            report::progress(&mut session, done, told, trace.transactions.len());
            (typed, told) = (0, done);
        }
    }
    let converged = session.converge(&trace.end);
    let outcome = Outcome::new(&mut session, &trace, converged, start.elapsed());
    if args.json {
        outcome.print_json();
    } else {
        outcome.print(&session, &trace);
    }
    Ok(outcome.converged)
}
