use std::collections::HashMap;

use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    scores: HashMap<u32, u32>,
}

fn main() {}
