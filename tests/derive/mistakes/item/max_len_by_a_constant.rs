use repl::prelude::*;

// As a `u32` this is 705,032,704.
const MOST: u64 = 5_000_000_000;

#[derive(FastArrayItem, Clone, Default)]
struct Stack {
    #[replicated(max_len = MOST)]
    name: String,
}

fn main() {}
