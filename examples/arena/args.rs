//! The arguments of the command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use arena_game::session::Settings;
use clap::builder::ArgPredicate;
use clap::{Parser, Subcommand, ValueEnum};

use crate::support::probability;

/// Clients fight in a small arena on a server, over a bad network, and bots play the players that are left.
/// At the end each client must have exactly the state that it may see.
#[derive(Clone, Debug, Parser)]
#[command(name = "arena", args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// What carries the packets. `quic` needs the feature of this name, and then `--loss`, `--latency-ms` and
    /// `--jitter-ms` have no effect.
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = Carrier::Sim)]
    pub(crate) transport: Carrier,
    /// How many clients join, 1 to 64. With `--host`, two if nothing is said.
    #[arg(long, value_name = "N", default_value_t = 4, default_value_if("host", ArgPredicate::IsPresent, "2"), value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) clients: u32,
    /// How many ticks the match lasts, 1 to 36000. A second has 60 ticks.
    #[arg(long, value_name = "N", default_value_t = 600, value_parser = clap::value_parser!(u32).range(1..=36_000))]
    pub(crate) ticks: u32,
    /// The probability that a packet is lost, 0 to 0.7.
    #[arg(long, value_name = "P", default_value_t = 0.05, value_parser = probability(0.0..=0.7))]
    pub(crate) loss: f64,
    /// How long each packet takes at least, in milliseconds, up to 1000.
    #[arg(long, value_name = "MS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(..=1_000))]
    pub(crate) latency_ms: u64,
    /// How much longer a packet can take, in milliseconds, up to 1000.
    #[arg(long, value_name = "MS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(..=1_000))]
    pub(crate) jitter_ms: u64,
    /// The seed of the match and of the network.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// The process of the server plays, too, as the host: a listen server.
    #[arg(long)]
    pub(crate) host: bool,
    /// The last client cheats. The server must end its connection.
    #[arg(long)]
    pub(crate) cheater: bool,
    /// Write a picture of the match: who was where, who died, what the first client saw, and the bytes.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Show the match while it is played, in real time, on a terminal.
    #[arg(long, conflicts_with = "json")]
    pub(crate) watch: bool,
    /// End with one line of JSON instead of the tables.
    #[arg(long)]
    pub(crate) json: bool,
}

impl From<&Args> for Settings {
    fn from(args: &Args) -> Self {
        Self {
            players: (args.clients + u32::from(args.host)).next_multiple_of(2).max(8),
            ticks: args.ticks,
            seed: args.seed,
            has_host: args.host,
            cheater: args.cheater.then_some(args.clients),
            has_spectators: false,
        }
    }
}

/// What carries the packets of a match in one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Carrier {
    /// A simulated network.
    Sim,
    /// UDP sockets of this machine, encrypted by QUIC.
    Quic,
}

/// A match in several processes. Needs the feature `quic`.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a match for clients in other processes.
    Serve(Serve),
    /// Join the match of a server, and play by a bot.
    Join(Join),
}

/// What the process of a server needs to know.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Serve {
    /// Where to listen, for example 127.0.0.1:7777, or 0.0.0.0:7777 for clients on other machines.
    pub(crate) address: SocketAddr,
    /// How many players there are, 2 to 64. Bots play those without a client.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(2..=64))]
    pub(crate) players: u32,
    /// How many ticks the match lasts, 1 to 36000. A second has 60 ticks.
    #[arg(long, value_name = "N", default_value_t = 36_000, value_parser = clap::value_parser!(u32).range(1..=36_000))]
    pub(crate) ticks: u32,
    /// The seed of the match.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
}

/// What the process of a client needs to know.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Join {
    /// Where the server listens.
    pub(crate) address: SocketAddr,
    /// After how many ticks the client leaves. It leaves earlier if the match is over.
    #[arg(long, value_name = "N", default_value_t = 36_000)]
    pub(crate) ticks: u32,
    /// The hash of the certificate of the server, which the server prints. A client on the machine of the
    /// server needs none if it has the same working directory.
    #[arg(long, value_name = "HASH")]
    pub(crate) pin: Option<String>,
    /// End with one line of JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Args, clap::Error> {
        Args::try_parse_from(["arena"].into_iter().chain(line.split_whitespace()))
    }

    #[test]
    fn values_out_of_range_and_unknown_options_are_refused() {
        for line in [
            "--loss 2",
            "--loss NaN",
            "--clients 0",
            "--clients",
            "--latency-ms 1001",
            "--speed 3",
            "--transport tcp",
            "serve",
            "serve localhost",
            "join 127.0.0.1:7777 --loss 0.1",
            "--loss 0.1 join 127.0.0.1:7777",
        ] {
            assert!(parse(line).is_err(), "{line} was accepted");
        }
        let mistake = parse("--loss 2").expect_err("out of range").to_string();
        assert!(mistake.contains("--loss") && mistake.contains("from 0 to 0.7"), "{mistake}");
    }

    #[test]
    fn options_replace_the_defaults() {
        let args = parse("--clients 32 --jitter-ms 7 --json").expect("a good line");
        assert_eq!((args.clients, args.jitter_ms, args.json, args.ticks), (32, 7, true, 600));
        let clients = |line| parse(line).expect("a good line").clients;
        assert_eq!((clients(""), clients("--host"), clients("--host --clients 3")), (4, 2, 3));
        let join = parse("join [::1]:7777 --pin 12ab --ticks 60").expect("a good line");
        let Some(Command::Join(Join { address, ticks, pin, json })) = join.command else {
            panic!("{join:?}")
        };
        assert!(address.is_ipv6() && !json);
        assert_eq!((ticks, pin.as_deref()), (60, Some("12ab")));
    }
}
