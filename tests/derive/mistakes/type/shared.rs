use std::sync::Arc;

use repl::Replicated;

#[derive(Replicated)]
struct Player {
    #[replicated]
    field: Arc<Vec<u8>>,
}

impl Default for Player {
    fn default() -> Self {
        Self { field: Arc::default() }
    }
}

fn main() {}
