use repl::prelude::*;

#[derive(FastArrayItem, Clone, Default)]
struct Stack {
    count: u8,
}

#[derive(Replicated, Default)]
struct Player {
    #[replicated(range = 0..=9)]
    stacks: FastArray<Stack>,
}

fn main() {}
