//! The arguments of the command line.
//!
//! *Invariant:* the process of the clients learns everything about the run from its arguments.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Parser, Subcommand};
use repl::quic::CertificateHash;

/// Many clients in another process join a server with many objects, over QUIC, and the ticks of the server
/// are measured. At the end each client must have exactly what it may see.
#[derive(Clone, Debug, Parser)]
#[command(name = "load", args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// How many clients join, 1 to 1000.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) clients: u32,
    /// How many objects the world has, 1 to 60000.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=60_000))]
    pub(crate) objects: u32,
    /// How many objects change in each tick.
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub(crate) dirty: u32,
    /// The approximate number of objects that each client has in sight.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) relevant: u32,
    /// How many ticks a second has, 1 to 240.
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=240))]
    pub(crate) hz: u32,
    /// How long everything moves, in seconds, 1 to 3600.
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=3_600))]
    pub(crate) seconds: u32,
    /// The seed of the world.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// End with one line of JSON instead of the tables.
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a picture of the times of all ticks to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Command {
    /// The clients. The program starts this by itself.
    #[command(hide = true)]
    Crowd(Crowd),
}

/// What the process of the clients must know.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Crowd {
    pub(crate) server: SocketAddr,
    pub(crate) pin: CertificateHash,
    pub(crate) clients: u32,
    pub(crate) hz: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Args, clap::Error> {
        Args::try_parse_from(["load"].into_iter().chain(line.split_whitespace()))
    }

    #[test]
    fn values_out_of_range_are_refused() {
        for line in
            ["--clients 0", "--clients 1001", "--objects 0", "--hz 0", "crowd", "crowd 127.0.0.1:1 12ab 3 30"]
        {
            assert!(parse(line).is_err(), "{line} was accepted");
        }
    }

    #[test]
    fn options_replace_the_defaults() {
        let args = parse("--clients 20 --seconds 5 --json").expect("a good line");
        assert_eq!((args.clients, args.objects, args.seconds, args.json), (20, 10_000, 5, true));
        let crowd = parse(&format!("crowd 127.0.0.1:1 {} 3 30", "0".repeat(64))).expect("a good line");
        assert!(matches!(crowd.command, Some(Command::Crowd(Crowd { clients: 3, hz: 30, .. }))));
    }
}
