mod async_function {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable)]
        async fn fire(&mut self) {}
    }
}

mod call_by_shared_reference {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable)]
        fn fire(_call: &ServerCall<'_, Self>) {}
    }
}

mod const_function {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable)]
        const fn fire(&mut self) {}
    }
}

mod extern_function {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable)]
        extern "C" fn fire(&mut self) {}
    }
}

mod generic_function {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable)]
        fn fire<T>(&mut self, _at: Vec<T>) {}
    }
}

mod impl_trait {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable)]
        fn say(&mut self, _line: impl Into<String>) {}
    }
}

mod named_lifetime {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable)]
        fn fire<'a>(_call: &mut ServerCall<'a, Self>) {}
    }
}

mod no_body {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable)]
        fn fire(&mut self) {}

        fn reload(&mut self);
    }
}

mod no_parameters {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(client, reliable)]
        fn hit() {}
    }
}

mod pattern {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable)]
        fn fire(&mut self, [_x, _y]: [f32; 2]) {}
    }
}

mod pattern_without_name {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable)]
        fn fire(&mut self, _: u16) {}
    }
}

mod reference {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable)]
        fn say(&mut self, _line: &str) {}
    }
}

mod reference_inside {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable)]
        fn say(&mut self, _line: Option<&str>) {}
    }
}

mod s224_return_type {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable)]
        fn fire(&mut self) -> bool {
            true
        }
    }
}

mod self_by_value {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable)]
        fn fire(self) {}
    }
}

mod self_in_a_box {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable)]
        fn fire(self: Box<Self>) {}
    }
}

mod two_parameters_of_one_name {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable)]
        fn fire(&mut self, #[replicated(name = "y")] _x: f32, #[replicated(name = "y")] _y: f32) {}
    }
}

mod unsafe_function {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        ammo: u16,
    }

    #[rpcs]
    impl Player {
        #[rpc(server, reliable)]
        unsafe fn fire(&mut self) {}
    }
}

fn main() {}
