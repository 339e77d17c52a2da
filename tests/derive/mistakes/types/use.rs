mod attached_to_a_typed_reference {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        health: u8,
    }

    fn give(server: &mut Server, sword: ObjectRef<Player>, player: ObjectRef<Player>) {
        server.object(sword).set_relevancy(Relevancy::AttachedTo(player));
    }
}

mod inputs_by_field_with_fast_arrays {
    use repl::prelude::*;

    #[derive(Replicated, Clone, Default)]
    struct Orders {
        #[replicated]
        squad: FastArray<u16>,
    }

    fn register(side: &mut impl Register) {
        side.register_inputs_by_field::<Orders>();
    }
}

mod message_without_a_type {
    use repl::prelude::*;

    fn read(client: &mut Client) {
        while let Some(message) = client.poll_message() {
            println!("a message");
        }
    }
}

mod spawned_by_a_client {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        health: u8,
    }

    fn join(client: &mut Client) {
        client.spawn(Player::default());
    }
}

mod spawned_without_the_derive {
    use repl::prelude::*;

    #[derive(Default)]
    struct Player {
        health: u16,
    }

    fn used() {
        let mut server = Server::new(ServerConfig::default());
        server.spawn(Player { health: 100 });
    }
}

fn main() {}
