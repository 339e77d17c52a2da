use std::collections::BTreeSet;

use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    heights: Vec<BTreeSet<(u8, f32)>>,
}

fn main() {}
