use repl::{FastArray, Replicated};

#[derive(Replicated, Default)]
struct Bag {
    #[replicated]
    items: FastArray<Item>,
}

#[derive(Clone, Default)]
struct Item {
    kind: u16,
}

fn main() {}
