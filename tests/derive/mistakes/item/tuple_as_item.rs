use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    scores: FastArray<(u8, u16)>,
}

fn main() {}
