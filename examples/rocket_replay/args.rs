//! The command line.
//!
//! *Invariant:* arguments that parse can be run.

use std::path::PathBuf;
use std::time::Duration;

use crate::number::number;

/// What `--help` prints.
pub(crate) const HELP: &str = "\
Replays a recorded match and replicates it: every actor and every property, bit for bit.

usage: cargo run --release --example rocket_replay -- FILE [options]

  FILE               a recording of Rocket League (*.replay)
  --clients N        how many clients watch (default 1, at most 64)
  --loss P           how likely each packet is lost, 0 to 0.95 (default 0)
  --latency-ms MS    how long each packet takes (default 0, at most 2000)
  --seed N           the seed of the simulated network (default 1)
  --json             end with one line of JSON instead of the table
  --help             print this

Without loss and latency every client is compared with the recording after every frame; otherwise at the end, when the
clients have had time to converge.";

/// What to do.
#[derive(Debug)]
pub(crate) enum Command {
    /// Print the help.
    Help,
    /// Replay.
    Run(Args),
}

/// How to replay what.
#[derive(Debug)]
pub(crate) struct Args {
    pub(crate) file: PathBuf,
    pub(crate) clients: u32,
    /// A probability.
    pub(crate) loss: f64,
    pub(crate) latency: Duration,
    pub(crate) seed: u64,
    pub(crate) json: bool,
}

impl Command {
    /// Reads the arguments after the program's name.
    ///
    /// # Errors
    /// In words that say what to write instead.
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut file = None;
        let mut args = Args {
            file: PathBuf::new(),
            clients: 1,
            loss: 0.0,
            latency: Duration::ZERO,
            seed: 1,
            json: false,
        };
        while let Some(argument) = arguments.next() {
            let mut value =
                || arguments.next().ok_or_else(|| format!("{argument} needs a value; see --help"));
            match argument.as_str() {
                "--help" | "-h" => return Ok(Self::Help),
                "--json" => args.json = true,
                "--clients" => args.clients = number(&argument, &value()?, 1, 64)?,
                "--loss" => args.loss = number(&argument, &value()?, 0.0, 0.95)?,
                "--latency-ms" => {
                    args.latency = Duration::from_millis(number(&argument, &value()?, 0, 2_000)?)
                }
                "--seed" => args.seed = number(&argument, &value()?, 0, u64::MAX)?,
                option if option.starts_with('-') => {
                    return Err(format!("there is no option {option}; see --help"));
                }
                _ if file.is_some() => return Err(format!("one file at a time: {argument} is a second one")),
                _ => file = Some(PathBuf::from(argument)),
            }
        }
        args.file = file.ok_or("which recording? give the path of a .replay file; see --help")?;
        Ok(Self::Run(args))
    }
}
