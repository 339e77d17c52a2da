use repl::{FastArrayItem, Replicated};

#[derive(Replicated, Clone, Default)]
struct Gem {
    #[replicated(condition = OwnerOnly)]
    cut: u8,
}

#[derive(FastArrayItem, Clone, Default)]
struct Item {
    kind: u16,
    gem: Gem,
}

fn main() {}
