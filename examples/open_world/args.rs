//! The arguments of the command line.

use std::path::PathBuf;

use clap::Parser;

use crate::support::probability;

/// Connections walk through a large world with thousands of objects, over a bad network. At the end each
/// client must have exactly the objects that are near it.
#[derive(Clone, Debug, Parser)]
#[command(name = "open_world")]
pub(crate) struct Args {
    /// How many objects the world has, 1000 to 65000. A tenth of them moves. The world is as large as the
    /// number of objects requires, so that a client always has about as many objects in sight.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1_000..=65_000))]
    pub(crate) objects: u32,
    /// How many connections walk through the world, 1 to 2000.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=2_000))]
    pub(crate) connections: u32,
    /// How many connections join in each tick.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) joins_per_tick: u32,
    /// How many ticks everything moves, 1 to 36000. A second has 30 ticks.
    #[arg(long, value_name = "N", default_value_t = 1_800, value_parser = clap::value_parser!(u32).range(1..=36_000))]
    pub(crate) ticks: u32,
    /// The probability that a packet is lost, 0 to 0.7.
    #[arg(long, value_name = "P", default_value_t = 0.02, value_parser = probability(0.0..=0.7))]
    pub(crate) loss: f64,
    /// How long each packet takes at least, in milliseconds, up to 1000. A packet takes up to half as long
    /// again.
    #[arg(long, value_name = "MS", default_value_t = 40, value_parser = clap::value_parser!(u64).range(..=1_000))]
    pub(crate) latency_ms: u64,
    /// How many bytes the server may send to each connection in a second.
    #[arg(long, value_name = "BYTES", default_value_t = 60_000, value_parser = clap::value_parser!(u32).range(300..))]
    pub(crate) budget: u32,
    /// The seed of the world and of the network.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// End with one line of JSON instead of the tables.
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a picture of the bytes and the objects in sight over time to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}

impl Args {
    /// Returns the arguments, or an error if `--objects` is less than ten times `--connections`.
    pub(crate) fn checked(self) -> Result<Self, String> {
        if self.connections * 10 > self.objects {
            return Err(format!(
                "{} connections need at least {} objects",
                self.connections,
                self.connections * 10
            ));
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Args, String> {
        let args = Args::try_parse_from(["open_world"].into_iter().chain(line.split_whitespace()));
        args.map_err(|error| error.to_string())?.checked()
    }

    #[test]
    fn values_out_of_range_are_refused() {
        for line in ["--loss 2", "--objects 10", "--connections 0", "--budget 100", "--connections 2000"] {
            assert!(parse(line).is_err(), "{line} was accepted");
        }
    }

    #[test]
    fn options_replace_the_defaults() {
        let args = parse("--objects 50000 --connections 1000 --svg a.svg").expect("a good line");
        assert_eq!((args.objects, args.connections, args.ticks), (50_000, 1_000, 1_800));
        assert!(!args.json && args.svg.is_some());
    }
}
