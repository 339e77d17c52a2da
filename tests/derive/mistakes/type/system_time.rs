use std::time::SystemTime;

use repl::Replicated;

#[derive(Replicated)]
struct Player {
    #[replicated]
    field: SystemTime,
}

impl Default for Player {
    fn default() -> Self {
        Self { field: SystemTime::UNIX_EPOCH }
    }
}

fn main() {}
