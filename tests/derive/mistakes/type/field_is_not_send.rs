use std::rc::Rc;

use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    health: u8,
    icon: Rc<u8>,
}

fn main() {}
