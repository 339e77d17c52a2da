use repl::Replicated;

#[derive(Replicated, Clone, Default)]
struct Hand {
    #[replicated(push)]
    cards: u32,
}

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    hand: Option<Box<Hand>>,
}

fn main() {}
