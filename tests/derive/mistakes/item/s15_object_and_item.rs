use repl::prelude::*;

#[derive(Replicated, FastArrayItem, Clone, Default)]
struct Gem {
    #[replicated]
    colour: u8,
}

fn main() {}
