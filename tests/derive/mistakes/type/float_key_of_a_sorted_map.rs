use std::collections::BTreeMap;

use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    heights: BTreeMap<f32, u8>,
}

fn main() {}
