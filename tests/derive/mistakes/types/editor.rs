mod misspelt {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(push)]
        health: u16,
    }

    fn hit(server: &mut Server, player: ObjectRef<Player>) {
        server.edit(player).heatlh(5);
    }
}

mod not_replicated {
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
}

mod of_another_type {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(push)]
        health: u16,
    }

    fn hit(server: &mut Server, player: ObjectRef<Player>) {
        server.edit(player).health(-5).health("none");
    }
}

mod private_field {
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
}

fn main() {}
