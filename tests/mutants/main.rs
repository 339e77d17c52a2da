//! Plants faults in a copy of the sources, one at a time, and runs the tests that must catch them.
//!
//! The faults are in `faults.toml`. The copy and its target folder are in `target/mutants`.
#![expect(clippy::print_stdout, reason = "it is a command, and this is its result")]

#[cfg(test)]
mod named_tests;
mod slice;
mod table;
mod working_copy;

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use slice::Slice;
use table::Table;
use working_copy::{Outcome, WorkingCopy};

/// Plants faults in a copy of the sources, one at a time, and reports which of them the tests catch.
#[derive(Parser)]
struct Args {
    /// Only faults whose names contain one of these words.
    words: Vec<String>,
    /// Only a part of them: 2/8 is the second of eight parts.
    #[arg(long, default_value = "1/1")]
    slice: Slice,
    /// Where the copy and its target folder are.
    #[arg(long, default_value = "target/mutants")]
    folder: PathBuf,
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn table() -> Table {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("faults.toml");
    Table::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn main() -> io::Result<ExitCode> {
    let Args { words, slice, folder } = Args::parse();
    let table = table();
    let is_named = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word));
    let chosen = table.faults.iter().filter(|fault| is_named(&fault.name));
    let copy = WorkingCopy::new(root(), &std::path::absolute(folder)?);
    let (mut caught, mut survived, mut not_planted) = (0, 0, 0);
    for fault in slice.of(chosen) {
        copy.refresh()?;
        let outcome = match fault.planted(root()) {
            Ok(files) => {
                files.iter().try_for_each(|(file, text)| copy.write(file, text.as_bytes()))?;
                copy.test(&fault.test)?
            }
            Err(error) => {
                println!("{error}");
                Outcome::NoBuild
            }
        };
        let (count, word) = match outcome {
            Outcome::Caught => (&mut caught, "caught"),
            Outcome::Survived => (&mut survived, "survived"),
            Outcome::NoBuild => (&mut not_planted, "no build"),
        };
        *count += 1;
        println!("{word:9} {}", fault.name);
    }
    copy.refresh()?;
    println!("{caught} caught, {survived} survived, {not_planted} could not be planted");
    Ok(if survived + not_planted == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
