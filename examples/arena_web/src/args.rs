//! The arguments of the command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// Makes the page of the arena, and serves it together with a match, in which bots play.
#[derive(Debug, Parser)]
#[command(name = "arena_web", args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// The port of the page on this machine. The system chooses one if it is 0.
    #[arg(long, value_name = "PORT", default_value_t = 8_000)]
    pub(crate) port: u16,
    /// The port of the match, which is a UDP port. The system chooses one if it is 0.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(crate) server_port: u16,
    /// A file with the certificate of the match. Without it, the program makes a certificate for development.
    #[arg(long, value_name = "FILE", requires = "key")]
    pub(crate) certificate: Option<PathBuf>,
    /// A file with the key of the certificate.
    #[arg(long, value_name = "FILE", requires = "certificate")]
    pub(crate) key: Option<PathBuf>,
    /// How many players there are, 2 to 64. Bots play those without a client.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(2..=64))]
    pub(crate) players: u32,
    /// How many ticks the match lasts, 1 to 54000. A second has 60 ticks.
    #[arg(long, value_name = "N", default_value_t = 36_000, value_parser = clap::value_parser!(u32).range(1..=54_000))]
    pub(crate) ticks: u32,
    /// The seed of the match.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print a line of JSON when the page is ready: its address, and what a client needs to join.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What else the program does.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Watch a match from this process, and print all replicated values of each tick as a line of JSON.
    Watch(Watch),
    /// Make the page of the game with Bevy, and serve it together with a match.
    #[cfg(feature = "bevy")]
    Bevy(Bevy),
}

/// The match of the game with Bevy.
#[cfg(feature = "bevy")]
#[derive(Debug, clap::Args)]
pub(crate) struct Bevy {
    /// The port of the page on this machine. The system chooses one if it is 0.
    #[arg(long, value_name = "PORT", default_value_t = 8_000)]
    pub(crate) port: u16,
    /// Let no bot play on the server.
    #[arg(long)]
    pub(crate) empty: bool,
    /// Print a line of JSON when the page is ready, and then each second what the server knows about the
    /// match.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What a client in a process of its own needs to know.
#[derive(Debug, clap::Args)]
pub(crate) struct Watch {
    /// Where the server listens.
    pub(crate) address: SocketAddr,
    /// The hash of the certificate of the server.
    #[arg(long, value_name = "HASH")]
    pub(crate) pin: String,
    /// After how many seconds the client leaves.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) seconds: u32,
    /// Print one line of JSON at the end instead: what the client knows about its connection.
    #[arg(long)]
    pub(crate) stats: bool,
}
