use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    health: u16,
}

fn heal(client: &mut Client, player: ObjectRef<Player>) {
    client[player].health = 100;
}

fn main() {
    let _ = heal;
}
