use repl::{Callbacks, Replicated};

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    health: u16,
}

impl Callbacks for Player {}

fn main() {}
