use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    rows: FastArray<FastArray<u8>>,
}

fn main() {}
