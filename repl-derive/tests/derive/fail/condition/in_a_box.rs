use repl::Replicated;

#[derive(Replicated, Clone, Default)]
struct Hand {
    #[replicated(condition = OwnerOnly)]
    cards: u32,
}

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    hand: Box<Hand>,
}

fn main() {}
