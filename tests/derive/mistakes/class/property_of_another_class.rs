use repl::prelude::*;

#[derive(Replicated, Default)]
#[replicated(all)]
struct Player {
    #[replicated(push)]
    health: u16,
}

#[derive(Replicated, Default)]
#[replicated(all)]
struct Door {
    #[replicated(push)]
    open: bool,
}

fn open(server: &mut Server, door: ObjectRef<Door>) {
    server.object(door).mark_dirty(Player::LAYOUT.property("health"));
}

fn main() {}
