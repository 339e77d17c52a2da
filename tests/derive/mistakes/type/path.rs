use std::path::PathBuf;

use repl::Replicated;

#[derive(Replicated)]
struct Player {
    #[replicated]
    field: PathBuf,
}

impl Default for Player {
    fn default() -> Self {
        Self { field: PathBuf::new() }
    }
}

fn main() {}
