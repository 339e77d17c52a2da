//! The command line.
//!
//! *Invariant:* arguments that parse can be played.

use std::time::Duration;

use crate::number::number;

/// What `--help` prints.
pub(crate) const HELP: &str = "\
Bots fight in a small arena on a server; clients watch over a bad network, and must end with exactly what they may see.

usage: cargo run --release --example arena -- [options]

  --clients N        how many clients join (default 4, at most 64)
  --ticks N          how long the match is, at 60 ticks a second (default 600, at most 36000)
  --loss P           how likely each packet is lost, 0 to 0.7 (default 0.05)
  --latency-ms MS    how long each packet takes at least (default 60, at most 1000)
  --jitter-ms MS     up to how much longer it takes (default 20, at most 1000)
  --seed N           the seed of the match and of the network (default 1)
  --json             end with one line of JSON instead of the table
  --help             print this";

/// What to do.
#[derive(Debug)]
pub(crate) enum Command {
    /// Print the help.
    Help,
    /// Play a match.
    Play(Args),
}

/// Which match to play.
#[derive(Clone, Debug)]
pub(crate) struct Args {
    pub(crate) clients: u32,
    pub(crate) ticks: u32,
    /// A probability.
    pub(crate) loss: f64,
    pub(crate) latency: Duration,
    pub(crate) jitter: Duration,
    pub(crate) seed: u64,
    pub(crate) json: bool,
}

impl Default for Args {
    fn default() -> Self {
        Self {
            clients: 4,
            ticks: 600,
            loss: 0.05,
            latency: Duration::from_millis(60),
            jitter: Duration::from_millis(20),
            seed: 1,
            json: false,
        }
    }
}

impl Command {
    /// Reads the arguments after the program's name.
    ///
    /// # Errors
    /// In words that say what to write instead.
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut args = Args::default();
        while let Some(option) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{option} needs a value; see --help"));
            match option.as_str() {
                "--help" | "-h" => return Ok(Self::Help),
                "--json" => args.json = true,
                "--clients" => args.clients = number(&option, &value()?, 1, 64)?,
                "--ticks" => args.ticks = number(&option, &value()?, 1, 36_000)?,
                "--loss" => args.loss = number(&option, &value()?, 0.0, 0.7)?,
                "--latency-ms" => args.latency = Duration::from_millis(number(&option, &value()?, 0, 1_000)?),
                "--jitter-ms" => args.jitter = Duration::from_millis(number(&option, &value()?, 0, 1_000)?),
                "--seed" => args.seed = number(&option, &value()?, 0, u64::MAX)?,
                _ => return Err(format!("there is no option {option}; see --help")),
            }
        }
        Ok(Self::Play(args))
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
        assert_eq!(mistake("--loss 2"), "--loss takes a number from 0 to 0.7, not \"2\"");
        assert_eq!(mistake("--loss NaN"), "--loss takes a number from 0 to 0.7, not \"NaN\"");
        assert_eq!(mistake("--clients"), "--clients needs a value; see --help");
        assert_eq!(mistake("--speed 3"), "there is no option --speed; see --help");
    }

    #[test]
    fn options_replace_the_defaults() {
        let Ok(Command::Play(args)) = parse("--clients 32 --jitter-ms 7 --json") else {
            panic!("a good line")
        };
        assert_eq!(
            (args.clients, args.jitter, args.json, args.ticks),
            (32, Duration::from_millis(7), true, 600)
        );
    }
}
