use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(push)]
    health: u16,
}

fn fight(server: &mut Server, one: ObjectRef<Player>, other: ObjectRef<Player>) {
    let (mut one, mut other) = (server.edit(one), server.edit(other));
    one.health(1);
    other.health(2);
}

fn main() {}
