mod bits_of_a_float {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable)]
        fn fire(&mut self, #[replicated(bits = 4)] _direction: f32) {}
    }
}

mod call_of_another_type {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[derive(Replicated, Default)]
    struct Door;

    #[rpcs]
    impl Player {
        #[rpc(server, reliable)]
        fn fire(_call: &mut ServerCall<'_, Door>) {}
    }
}

mod class_without_calls {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        health: u16,
    }

    fn used() {
        Server::new(ServerConfig::default()).register_calls::<Player>();
    }
}

mod client_call_on_a_server {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable)]
        fn fire(_call: &mut ClientCall<'_, Self>) {}
    }
}

mod no_clone {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable)]
        fn fire(&mut self, _door: Door) {}
    }

    #[derive(Replicated, Default)]
    struct Door {
        #[replicated]
        open: bool,
    }
}

mod not_a_property {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable)]
        fn fire(&mut self, _at: std::time::Instant) {}
    }
}

mod not_replicated {
    use repl::prelude::*;

    struct Menu;

    #[rpcs]
    impl Menu {
        #[rpc(server, reliable)]
        fn open(&mut self) {}
    }
}

mod private_in_another_module {
    use repl::{CallError, Client, ObjectRef};

    mod ships {
        use repl::{Replicated, rpcs};

        #[derive(Replicated, Default)]
        pub struct Ship {
            #[replicated]
            speed: f32,
        }

        #[rpcs]
        impl Ship {
            #[rpc(server, reliable)]
            fn steer(&mut self, speed: f32) {
                self.speed = speed;
            }
        }
    }

    fn steer(client: &mut Client, ship: ObjectRef<ships::Ship>) -> Result<(), CallError> {
        client.call(ship).steer(2.0)
    }
}

mod server_call_in_a_multicast {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(multicast, reliable)]
        fn explode(_call: &mut ServerCall<'_, Self>) {}
    }
}

mod server_call_on_a_client {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(client, reliable)]
        fn hit(_call: &mut ServerCall<'_, Self>, _damage: u16) {}
    }
}

mod validator_by_value {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable, validate = may_fire)]
        fn fire(&mut self, _direction: u16) {}

        fn may_fire(&self, _caller: ConnectionId, direction: u16) -> bool {
            direction < 360
        }
    }
}

mod validator_missing {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable, validate = may_fire)]
        fn fire(&mut self, _direction: u16, _at: [f32; 3]) {}
    }
}

mod validator_without_bool {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable, validate = may_fire)]
        fn fire(&mut self, _direction: u16) {}

        fn may_fire(&self, _caller: ConnectionId, _direction: &u16) {}
    }
}

mod validator_without_caller {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable, validate = may_fire)]
        fn fire(&mut self, _direction: u16) {}

        fn may_fire(&self, direction: &u16) -> bool {
            *direction < 360
        }
    }
}

fn main() {}
