use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(bits = 9)]
    value: u8,
}

fn main() {
    Player::program();
}
