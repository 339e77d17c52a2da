use repl::{NetSerialize, Replicated};

#[derive(Replicated, Clone, Default)]
struct Hand {
    #[replicated(notify = on_cards)]
    cards: u32,
}

impl Hand {
    fn on_cards(&mut self) {}
}

#[derive(NetSerialize, Clone, Default)]
enum Turn {
    #[default]
    Waits,
    Plays(u8, Box<Hand>),
}

fn main() {}
