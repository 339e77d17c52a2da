use std::rc::Rc;

use repl::prelude::*;

#[derive(FastArrayItem, Clone, Default)]
struct Item {
    count: u8,
    #[replicated(skip)]
    icon: Rc<u8>,
}

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    items: FastArray<Item>,
}

fn main() {}
