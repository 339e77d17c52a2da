//! The command line.
//!
//! *Invariant:* arguments that parse can be run.

use std::path::PathBuf;
use std::time::Duration;

use crate::number::number;

/// What `--help` prints.
pub(crate) const HELP: &str = "\
Replays recorded keystrokes on a server's document, an ordered fast array of characters, and compares what its readers end with.

usage: cargo run --release --example shared_document -- TRACE [options]

  TRACE              a recorded editing session (*.json.gz): startContent, endContent, and txns[].patches[] of
                     [position, deleted, inserted]
  --clients N        how many clients read (default 2, at most 64)
  --batch N          patches per tick, of which there are 60 a second (default 10, at most 10000)
  --loss P           how likely each packet is lost, 0 to 0.7 (default 0.05)
  --latency-ms MS    how long each packet takes at least (default 40, at most 1000)
  --jitter-ms MS     up to how much longer it takes (default 10, at most 1000)
  --seed N           the seed of the network (default 1)
  --json             end with one line of JSON instead of the table
  --help             print this";

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
    pub(crate) trace: PathBuf,
    pub(crate) clients: u32,
    pub(crate) batch: usize,
    /// A probability.
    pub(crate) loss: f64,
    pub(crate) latency: Duration,
    pub(crate) jitter: Duration,
    pub(crate) seed: u64,
    pub(crate) json: bool,
}

impl Command {
    /// Reads the arguments after the program's name.
    ///
    /// # Errors
    /// In words that say what to write instead.
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut trace = None;
        let mut args = Args {
            trace: PathBuf::new(),
            clients: 2,
            batch: 10,
            loss: 0.05,
            latency: Duration::from_millis(40),
            jitter: Duration::from_millis(10),
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
                "--batch" => args.batch = number(&argument, &value()?, 1, 10_000)?,
                "--loss" => args.loss = number(&argument, &value()?, 0.0, 0.7)?,
                "--latency-ms" => {
                    args.latency = Duration::from_millis(number(&argument, &value()?, 0, 1_000)?);
                }
                "--jitter-ms" => {
                    args.jitter = Duration::from_millis(number(&argument, &value()?, 0, 1_000)?);
                }
                "--seed" => args.seed = number(&argument, &value()?, 0, u64::MAX)?,
                option if option.starts_with('-') => {
                    return Err(format!("there is no option {option}; see --help"));
                }
                _ if trace.is_some() => {
                    return Err(format!("one trace at a time: {argument} is a second one"));
                }
                _ => trace = Some(PathBuf::from(argument)),
            }
        }
        args.trace = trace.ok_or("which keystrokes? give the path of a .json.gz trace; see --help")?;
        Ok(Self::Run(args))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Command, String> {
        Command::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn a_mistake_is_answered_with_what_to_write() {
        let mistake = |line: &str| parse(line).expect_err("it is a mistake");
        assert_eq!(mistake("t --loss 2"), "--loss takes a number from 0 to 0.7, not \"2\"");
        assert_eq!(mistake("t --batch"), "--batch needs a value; see --help");
        assert_eq!(mistake("t --speed 3"), "there is no option --speed; see --help");
        assert_eq!(mistake("t u"), "one trace at a time: u is a second one");
        assert_eq!(mistake("--json"), "which keystrokes? give the path of a .json.gz trace; see --help");
    }

    #[test]
    fn options_replace_the_defaults() {
        let Ok(Command::Run(args)) = parse("--clients 32 t --batch 7 --json") else { panic!("a good line") };
        assert_eq!((args.clients, args.batch, args.json, args.seed), (32, 7, true, 1));
        assert_eq!(args.trace, PathBuf::from("t"));
    }
}
