use std::rc::Rc;

use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    target: Option<Rc<u8>>,
}

fn main() {}
