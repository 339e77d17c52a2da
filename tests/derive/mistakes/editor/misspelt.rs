use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(push)]
    health: u16,
}

fn hit(server: &mut Server, player: ObjectRef<Player>) {
    server.edit(player).heatlh(5);
}

fn main() {}
