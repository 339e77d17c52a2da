use std::time::SystemTime;

use repl::Replicated;

#[derive(Replicated)]
struct Player {
    #[replicated]
    field: SystemTime,
}

impl Default for Player {
    fn default() -> Self {
        todo!()
    }
}

fn main() {}
