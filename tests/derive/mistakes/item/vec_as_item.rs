use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    paths: FastArray<Vec<u8>>,
}

fn main() {}
