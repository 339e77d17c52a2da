use repl::{NetSerialize, Replicated};

#[derive(Replicated, NetSerialize, Clone, Default)]
struct Player {
    #[replicated]
    health: u16,
}

fn main() {}
