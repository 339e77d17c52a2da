mod cfg_on_a_call {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[cfg(debug_assertions)]
        #[rpc(server, reliable)]
        fn cheat(&mut self) {}
    }
}

mod every_mistake_is_reported {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliabel)]
        fn fire(&mut self, #[replicated(skip)] _direction: u16) -> bool {
            true
        }

        #[rpc(client, multicast, reliable)]
        async fn hit(self, _by: &str) {}
    }

    fn uses(client: &mut Client, player: ObjectRef<Player>) {
        let _ = client.call(player).fire(90);
        let _ = client.call(player).hit();
    }
}

mod no_call {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        fn fire(&mut self) {}
    }
}

mod no_object {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable)]
        fn fire(_direction: u16) {}
    }
}

mod no_variant {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable)]
        fn _1(&mut self) {}
    }
}

mod on_a_generic_impl {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[derive(Replicated, Default)]
    struct Squad<T> {
        #[replicated]
        members: Vec<T>,
    }

    #[rpcs]
    impl<T> Squad<T> {
        #[rpc(server, reliable)]
        fn disband(&mut self) {}
    }
}

mod on_a_struct {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    struct Weapon {
        ammo: u16,
    }
}

mod on_a_trait_impl {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    trait Fires {
        fn fire(&mut self);
    }

    #[rpcs]
    impl Fires for Player {
        #[rpc(server, reliable)]
        fn fire(&mut self) {}
    }
}

mod on_a_trait_object {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    trait Weapon {}

    #[rpcs]
    impl dyn Weapon {
        #[rpc(server, reliable)]
        fn fire(&mut self) {}
    }
}

mod outside_of_a_block {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    impl Player {
        #[rpc(server, reliable)]
        fn fire(&mut self, #[replicated(bits = 4)] _direction: u16) {}
    }
}

mod outside_of_a_block_without_a_body {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    impl Player {
        #[rpc(server, reliable)]
        fn fire(direction: u16);
    }
}

mod two_blocks {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        health: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable)]
        fn fire(&mut self) {}
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable)]
        fn jump(&mut self) {}
    }
}

mod two_of_one_name {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable, name = "shoot")]
        fn fire(&mut self) {}

        #[rpc(client, reliable)]
        fn shoot(&mut self) {}
    }
}

mod two_of_one_variant {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable)]
        fn fire_at(&mut self) {}

        #[rpc(client, reliable)]
        fn fire__at(&mut self) {}
    }
}

fn main() {}
