mod condition_on_a_parameter {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable)]
        fn fire(&mut self, #[replicated(condition = OwnerOnly)] _direction: u16) {}
    }
}

mod flag_with_value {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable = true)]
        fn fire(&mut self) {}
    }
}

mod misspelt_on_a_parameter {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable)]
        fn fire(&mut self, #[replicated(bist = 4)] _direction: u16) {}
    }
}

mod misspelt_option {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, relaible)]
        fn fire(&mut self) {}
    }
}

mod no_kind {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(reliable)]
        fn fire(&mut self) {}
    }
}

mod no_options {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc]
        fn fire(&mut self) {}
    }
}

mod no_reliability {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server)]
        fn fire(&mut self) {}
    }
}

mod option_of_a_parameter {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable, quantize(step = 0.01, range = -1.0..=1.0))]
        fn turn(&mut self, _angle: f32) {}
    }
}

mod option_of_unreal {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(NetMulticast, reliable)]
        fn explode(&mut self) {}
    }
}

mod option_twice {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable, per_second = 5, per_second = 6)]
        fn fire(&mut self) {}
    }
}

mod option_without_value {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable, per_second)]
        fn fire(&mut self) {}
    }
}

mod options_without_parentheses {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc = "server"]
        fn fire(&mut self) {}
    }
}

mod per_second_on_a_client {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(client, reliable, per_second = 10)]
        fn hit(&mut self) {}
    }
}

mod per_second_too_large {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable, per_second = 10_001)]
        fn fire(&mut self) {}
    }
}

mod per_second_zero {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable, per_second = 0)]
        fn fire(&mut self) {}
    }
}

mod polled_with_a_call {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable)]
        fn fire(call: &mut ServerCall<'_, Self>, direction: u16);
    }
}

mod polled_with_self {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable)]
        fn fire(&mut self, direction: u16);
    }
}

mod skip_a_parameter {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable)]
        fn fire(&mut self, #[replicated(skip)] _direction: u16) {}
    }
}

mod two_kinds {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, client, reliable)]
        fn fire(&mut self) {}
    }
}

mod two_reliabilities {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable, unreliable)]
        fn fire(&mut self) {}
    }
}

mod unknown_option {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable, priority = 3)]
        fn fire(&mut self) {}
    }
}

mod unknown_option_of_the_block {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs(krate = "repl")]
    impl Player {
        #[rpc(server, reliable)]
        fn fire(&mut self) {}
    }
}

mod validate_a_multicast {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(multicast, reliable, validate = may_hit)]
        fn hit(&mut self) {}

        fn may_hit(&self, _: ConnectionId) -> bool {
            true
        }
    }
}

mod validate_on_a_client {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(client, reliable, validate = may_hit)]
        fn hit(&mut self) {}

        fn may_hit(&self, _: ConnectionId) -> bool {
            true
        }
    }
}

mod validator_in_quotes {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable, validate = "may_fire")]
        fn fire(&mut self) {}
    }
}

mod waits_on_a_server {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable, waits)]
        fn aim(&mut self, _at: ObjectRef<Player>) {}
    }
}

mod waits_unreliable {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(client, unreliable, waits)]
        fn hit(&mut self, _by: ObjectRef<Player>) {}
    }
}

fn main() {}
