use repl::{FastArray, FastArrayItem};

#[derive(FastArrayItem, Clone, Default)]
struct Item {
    kind: u16,
    parts: FastArray<Item>,
}

fn main() {}
