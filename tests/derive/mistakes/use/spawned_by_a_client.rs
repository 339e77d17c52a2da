use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    health: u8,
}

fn join(client: &mut Client) {
    client.spawn(Player::default());
}

fn main() {}
