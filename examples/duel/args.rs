//! The arguments of the command line.

use std::path::PathBuf;

use clap::Parser;

/// Four bots walk and shoot at each other over four links of a simulated network. Each predicts his own
/// moves, sees the others where they were, and hits what he saw.
#[derive(Clone, Debug, Parser)]
#[command(name = "duel")]
pub(crate) struct Args {
    /// How many seconds they fight, 5 to 3600.
    #[arg(long, value_name = "N", default_value_t = 120, value_parser = clap::value_parser!(u64).range(5..=3_600))]
    pub(crate) seconds: u64,
    /// How far back the server goes to see what a shooter saw, in milliseconds, up to 2000.
    #[arg(long, value_name = "MS", default_value_t = 400, value_parser = clap::value_parser!(u64).range(..=2_000))]
    pub(crate) cap_ms: u64,
    /// The seed of the bots and of the network.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// End with one line of JSON instead of the table.
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a picture of predicted, confirmed and smoothed positions and of the hits to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_out_of_range_are_refused() {
        for line in ["duel --seconds 1", "duel --cap-ms 9000", "duel --seed x"] {
            assert!(Args::try_parse_from(line.split(' ')).is_err(), "{line} was accepted");
        }
        let args = Args::try_parse_from(["duel", "--cap-ms", "700", "--json"]).expect("a good line");
        assert_eq!((args.seconds, args.cap_ms, args.json), (120, 700, true));
    }
}
