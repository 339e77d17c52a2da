use repl::prelude::*;

#[derive(FastArrayItem, Clone, Default)]
#[replicated(callbacks)]
struct Item {
    count: u8,
}

impl Callbacks for Item {}

fn main() {}
