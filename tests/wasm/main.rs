//! Prints the hashes of the packets of some worlds, one in a line.
#![expect(clippy::print_stdout, reason = "it is a command, and this is its result")]

use repl_same_packets::{SEEDS, trace};

fn main() {
    (0..SEEDS).for_each(|seed| println!("{seed} {:016x}", trace(seed)));
}
