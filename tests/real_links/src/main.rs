//! A server and its clients over QUIC, for links that the system itself makes slow.
//!
//! `run.sh` makes network namespaces whose links carry only so many bytes, and starts this program in each
//! of them: as the server, as clients, and as what delays and loses datagrams on the way to a client. The
//! clock of the system is the same in all of them, so clients measure how long a change takes from being
//! written to being told.
//!
//! *Invariant:* whoever does not get what its arguments promise ends with a failure.

#[path = "../../../examples/support/metronome.rs"]
mod metronome;

mod client;
mod fleet;
mod server;
mod way;

use std::error::Error;
use std::process::ExitCode;

use clap::Parser;

/// How many ticks a second has, of the server and of its clients.
const HZ: u32 = 30;

/// A part of a test over real links.
#[derive(Debug, Parser)]
enum Command {
    /// Moves ships until the time is over, and waits until all clients have left.
    Serve(server::Serve),
    /// Joins a server, measures, and leaves when the server says that the time is over.
    Join(client::Join),
    /// Delays and loses the datagrams between one client and a server.
    Delay(way::Delay),
}

fn main() -> ExitCode {
    let result: Result<(), Box<dyn Error>> = match Command::parse() {
        Command::Serve(serve) => server::run(&serve),
        Command::Join(join) => client::run(&join),
        Command::Delay(delay) => way::run(&delay).map_err(Into::into),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("repl-real-links: {error}");
            ExitCode::FAILURE
        }
    }
}
