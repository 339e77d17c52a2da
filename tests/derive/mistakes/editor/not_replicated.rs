use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(push)]
    health: u16,
    cooldown: f32,
}

fn wait(server: &mut Server, player: ObjectRef<Player>) {
    server.edit(player).cooldown(5.0);
}

fn main() {}
