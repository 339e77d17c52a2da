use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(range = 0..=300)]
    value: u8,
}

fn main() {
    Player::program();
}
