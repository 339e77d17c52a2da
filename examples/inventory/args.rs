//! The arguments of the command line.

use clap::Parser;

use crate::support::probability;

/// The bag of an adventurer, in a fast array and in a plain `Vec`. Shows which callbacks the client gets, and
/// how many bytes each change takes.
#[derive(Clone, Debug, Parser)]
#[command(name = "inventory")]
pub(crate) struct Args {
    /// How many random updates follow the story, up to 100000.
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(..=100_000))]
    pub(crate) updates: u32,
    /// The probability that a packet is lost during these updates, 0 to 0.7.
    #[arg(long, value_name = "P", default_value_t = 0.1, value_parser = probability(0.0..=0.7))]
    pub(crate) loss: f64,
    /// The seed of the updates and of the network.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// End with one line of JSON instead of the story.
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Args, clap::Error> {
        Args::try_parse_from(["inventory"].into_iter().chain(line.split_whitespace()))
    }

    #[test]
    fn values_out_of_range_and_unknown_options_are_refused() {
        for line in ["--loss 0.9", "--updates", "--updates 100001", "--items 3"] {
            assert!(parse(line).is_err(), "{line} was accepted");
        }
    }

    #[test]
    fn options_replace_the_defaults() {
        let args = parse("--updates 7 --json").expect("a good line");
        assert_eq!((args.updates, args.json, args.seed), (7, true, 1));
    }
}
