use repl::prelude::*;

#[derive(Replicated, Default)]
#[replicated(all)]
struct Player {
    health: u16,
}

#[derive(Replicated, Default)]
#[replicated(all)]
struct Door {
    open: bool,
}

fn build(server: &mut Server) {
    let veteran = server.register_archetype(|| Player { health: 200 });
    server.spawn_from(veteran, Door::default());
}

fn main() {}
