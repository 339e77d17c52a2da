use std::time::Instant;

use repl::Replicated;

#[derive(Replicated)]
struct Player {
    #[replicated]
    spawned: Instant,
}

impl Default for Player {
    fn default() -> Self {
        Self { spawned: Instant::now() }
    }
}

fn main() {}
