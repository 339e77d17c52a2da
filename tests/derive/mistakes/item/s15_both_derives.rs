use repl::{FastArrayItem, NetSerialize};

#[derive(FastArrayItem, NetSerialize, Clone, Default)]
struct Item {
    kind: u16,
}

fn main() {}
