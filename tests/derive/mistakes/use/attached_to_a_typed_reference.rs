use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    health: u8,
}

fn give(server: &mut Server, sword: ObjectRef<Player>, player: ObjectRef<Player>) {
    server.object(sword).set_relevancy(Relevancy::AttachedTo(player));
}

fn main() {}
