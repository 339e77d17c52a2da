use repl::{FastArrayItem, ItemCallbacks};

#[derive(FastArrayItem, Clone, Default)]
struct Item {
    kind: u16,
}

impl ItemCallbacks for Item {}

fn main() {}
