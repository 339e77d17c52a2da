use std::collections::HashMap;
use std::time::Instant;

use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    scores: HashMap<Instant, u32>,
}

fn main() {}
