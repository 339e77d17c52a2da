//! The arguments of the command line.

use std::path::PathBuf;

use clap::Parser;

use crate::support::probability;

/// Replays recorded keystrokes on a server's document, an ordered fast array of characters. Compares the text
/// that each client ends with.
#[derive(Debug, Parser)]
#[command(name = "shared_document")]
pub(crate) struct Args {
    /// A recorded editing session (*.json.gz) with startContent, endContent, and txns[].patches[] of
    /// [position, deleted, inserted].
    pub(crate) trace: PathBuf,
    /// How many clients read, 1 to 64.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) clients: u32,
    /// How many patches a tick applies, 1 to 10000. A second has 60 ticks.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) batch: u32,
    /// The probability that a packet is lost, 0 to 0.7.
    #[arg(long, value_name = "P", default_value_t = 0.05, value_parser = probability(0.0..=0.7))]
    pub(crate) loss: f64,
    /// How long each packet takes at least, in milliseconds, up to 1000.
    #[arg(long, value_name = "MS", default_value_t = 40, value_parser = clap::value_parser!(u64).range(..=1_000))]
    pub(crate) latency_ms: u64,
    /// How much longer a packet can take, in milliseconds, up to 1000.
    #[arg(long, value_name = "MS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(..=1_000))]
    pub(crate) jitter_ms: u64,
    /// The seed of the network.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Store the text as a plain string that is sent as differences.
    #[arg(long)]
    pub(crate) plain: bool,
    /// End with one line of JSON instead of the table.
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Args, clap::Error> {
        Args::try_parse_from(["shared_document"].into_iter().chain(line.split_whitespace()))
    }

    #[test]
    fn values_out_of_range_and_unknown_options_are_refused() {
        for line in ["t --loss 2", "t --batch", "t --batch 0", "t --speed 3", "t u", "--json"] {
            assert!(parse(line).is_err(), "{line} was accepted");
        }
    }

    #[test]
    fn options_replace_the_defaults() {
        let args = parse("--clients 32 t --batch 7 --json").expect("a good line");
        assert_eq!((args.clients, args.batch, args.json, args.seed), (32, 7, true, 1));
        assert_eq!(args.trace, PathBuf::from("t"));
    }
}
