use std::sync::Mutex;

use repl::Replicated;

#[derive(Replicated)]
struct Player {
    #[replicated]
    field: Mutex<u8>,
}

impl Default for Player {
    fn default() -> Self {
        Self { field: Mutex::new(0) }
    }
}

fn main() {}
