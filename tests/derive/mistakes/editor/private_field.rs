use repl::prelude::*;

mod game {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    pub struct Player {
        #[replicated(push)]
        health: u16,
    }
}

fn hit(server: &mut Server, player: ObjectRef<game::Player>) {
    server.edit(player).health(5);
}

fn main() {}
