use repl::{NetSerialize, Replicated};

#[derive(Replicated, Clone, Default)]
struct Hand {
    #[replicated(condition = OwnerOnly)]
    cards: u32,
}

#[derive(NetSerialize, Clone, Default)]
struct Turn<T> {
    of: Box<T>,
}

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    turn: Turn<Hand>,
}

fn main() {}
