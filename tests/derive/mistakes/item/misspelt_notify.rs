use repl::prelude::*;

#[derive(FastArrayItem, Clone, Default)]
struct Item {
    #[replicated(notfy = on_count)]
    count: u8,
}

fn main() {}
