//! Prints the hashes of the packets of some worlds, one in a line.
#![expect(clippy::print_stdout, reason = "it is a command, and this is its result")]

/// As many as `run.mjs` prints.
const SEEDS: u64 = 40;

fn main() {
    (0..SEEDS).for_each(|seed| println!("{seed} {:016x}", repl_same_packets::trace(seed)));
}
