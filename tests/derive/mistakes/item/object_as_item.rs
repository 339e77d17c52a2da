use repl::prelude::*;

#[derive(Replicated, Clone, Default)]
struct Gem {
    #[replicated]
    colour: u8,
}

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    gems: FastArray<Gem>,
}

fn main() {}
