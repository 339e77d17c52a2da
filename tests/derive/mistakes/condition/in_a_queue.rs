use std::collections::VecDeque;

use repl::Replicated;

#[derive(Replicated, Clone, Default)]
struct Hand {
    #[replicated(condition = OwnerOnly)]
    cards: u32,
}

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    hands: VecDeque<Hand>,
}

fn main() {}
