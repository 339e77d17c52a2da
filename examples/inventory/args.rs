//! The command line.
//!
//! *Invariant:* arguments that parse can be run.

use crate::number::number;

/// What `--help` prints.
pub(crate) const HELP: &str = "\
The bag of an adventurer, in a fast array and in a plain Vec: what the client is told, and how many bytes each takes.

usage: cargo run --release --example inventory -- [options]

  --updates N        how many random updates follow the story (default 500, at most 100000)
  --loss P           how likely each packet is lost during these, 0 to 0.7 (default 0.1)
  --seed N           the seed of the updates and of the network (default 1)
  --json             end with one line of JSON instead of the story
  --help             print this";

/// What to do.
#[derive(Debug)]
pub(crate) enum Command {
    /// Print the help.
    Help,
    /// Tell the story.
    Tell(Args),
}

/// How to tell it.
#[derive(Clone, Debug)]
pub(crate) struct Args {
    pub(crate) updates: u32,
    /// A probability.
    pub(crate) loss: f64,
    pub(crate) seed: u64,
    pub(crate) json: bool,
}

impl Command {
    /// Reads the arguments after the program's name.
    ///
    /// # Errors
    /// In words that say what to write instead.
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut args = Args { updates: 500, loss: 0.1, seed: 1, json: false };
        while let Some(option) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{option} needs a value; see --help"));
            match option.as_str() {
                "--help" | "-h" => return Ok(Self::Help),
                "--json" => args.json = true,
                "--updates" => args.updates = number(&option, &value()?, 0, 100_000)?,
                "--loss" => args.loss = number(&option, &value()?, 0.0, 0.7)?,
                "--seed" => args.seed = number(&option, &value()?, 0, u64::MAX)?,
                _ => return Err(format!("there is no option {option}; see --help")),
            }
        }
        Ok(Self::Tell(args))
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
        assert_eq!(mistake("--loss 0.9"), "--loss takes a number from 0 to 0.7, not \"0.9\"");
        assert_eq!(mistake("--updates"), "--updates needs a value; see --help");
        assert_eq!(mistake("--items 3"), "there is no option --items; see --help");
    }

    #[test]
    fn options_replace_the_defaults() {
        let Ok(Command::Tell(args)) = parse("--updates 7 --json") else { panic!("a good line") };
        assert_eq!((args.updates, args.json, args.seed), (7, true, 1));
    }
}
