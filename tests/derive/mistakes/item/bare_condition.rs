use repl::prelude::*;

#[derive(FastArrayItem, Clone, Default)]
struct Item {
    #[replicated(OwnerOnly)]
    count: u8,
}

fn main() {}
