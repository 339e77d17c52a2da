//! A server and its clients over QUIC, for links that the operating system makes slow.
//!
//! `run.sh` makes network namespaces with links of a limited rate, and starts this program in each of them:
//! as the server, as clients, and as a proxy that delays and loses the datagrams of a client. The system's
//! clock is the same in all namespaces, so clients can measure the time from the write of a change to its
//! update.
//!
//! *Invariant:* a process ends with a failure if a limit in its arguments is not met.

#[path = "../../../examples/support/metronome.rs"]
mod metronome;

mod client;
mod fleet;
mod server;
mod way;

use std::error::Error;
use std::process::ExitCode;

use clap::Parser;

/// The number of ticks in a second, on the server and on its clients.
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
