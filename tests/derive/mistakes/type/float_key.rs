use std::collections::HashMap;

use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    heights: HashMap<f32, u8>,
}

fn main() {}
