//! The arguments of the command line.

use std::path::PathBuf;

use clap::Parser;

use crate::support::probability;

/// Replays a recorded match and replicates it: every actor and every property, bit for bit.
///
/// Without loss and latency every client is compared with the recording after every frame. With loss or
/// latency, the clients are compared at the end, after they had time to converge.
#[derive(Debug, Parser)]
#[command(name = "rocket_replay")]
pub(crate) struct Args {
    /// A recording of Rocket League (*.replay).
    pub(crate) file: PathBuf,
    /// How many clients watch, 1 to 64.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) clients: u32,
    /// The probability that a packet is lost, 0 to 0.95.
    #[arg(long, value_name = "P", default_value_t = 0.0, value_parser = probability(0.0..=0.95))]
    pub(crate) loss: f64,
    /// How long each packet takes, in milliseconds, up to 2000.
    #[arg(long, value_name = "MS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=2_000))]
    pub(crate) latency_ms: u64,
    /// The seed of the simulated network.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// End with one line of JSON instead of the table.
    #[arg(long)]
    pub(crate) json: bool,
}
