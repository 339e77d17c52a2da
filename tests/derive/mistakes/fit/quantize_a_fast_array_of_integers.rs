use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(quantize(step = 0.1, range = 0.0..=1.0))]
    counts: FastArray<u8>,
}

fn main() {}
