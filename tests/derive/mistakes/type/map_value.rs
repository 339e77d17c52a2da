use std::collections::BTreeMap;
use std::time::Instant;

use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    seen: BTreeMap<u32, Instant>,
}

fn main() {}
