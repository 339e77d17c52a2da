use std::collections::HashMap;

use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(atomic)]
    heights: HashMap<f32, u8>,
}

fn main() {}
