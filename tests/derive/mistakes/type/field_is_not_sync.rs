use std::cell::Cell;

use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    health: u16,
    hits: Cell<u32>,
}

fn main() {
    let _ = Player::default().hits;
}
