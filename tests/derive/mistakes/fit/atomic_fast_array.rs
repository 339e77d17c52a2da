use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(atomic)]
    items: FastArray<u8>,
}

fn main() {}
