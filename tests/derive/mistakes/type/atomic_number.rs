use std::sync::atomic::AtomicU32;

use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    hits: AtomicU32,
}

fn main() {}
