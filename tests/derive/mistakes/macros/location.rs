mod misspelt {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Wagon {
        #[replicated(loaction)]
        position: [f32; 3],
    }
}

mod never_sent {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Wagon {
        #[replicated(location, condition = Never)]
        position: [f32; 3],
    }
}

mod of_another_name {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Wagon {
        #[replicated(position)]
        place: [f32; 3],
    }
}

mod on_a_parameter {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Wagon {
        #[replicated]
        load: u8,
    }

    #[rpcs]
    impl Wagon {
        #[rpc(server, reliable)]
        fn go(&mut self, #[replicated(location)] _to: [f32; 3]) {}
    }
}

mod on_a_value {
    use repl::prelude::*;

    #[derive(NetSerialize, Clone)]
    enum Order {
        Stay,
        Go {
            #[replicated(location)]
            to: [f32; 3],
        },
    }
}

mod on_a_variant {
    use repl::prelude::*;

    #[derive(NetSerialize, Clone)]
    enum Order {
        Stay,
        #[replicated(location)]
        Go([f32; 3]),
    }
}

mod on_an_item {
    use repl::prelude::*;

    #[derive(FastArrayItem, Clone, Default)]
    struct Wheel {
        #[replicated(location)]
        position: [f32; 3],
    }
}

mod on_the_type {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    #[replicated(location)]
    struct Wagon {
        #[replicated]
        position: [f32; 3],
    }
}

mod skipped {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    #[replicated(all)]
    struct Wagon {
        #[replicated(skip, location)]
        position: [f32; 3],
        load: u8,
    }
}

mod twice {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Wagon {
        #[replicated(location, location)]
        position: [f32; 3],
    }
}

mod two_of_them {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Wagon {
        #[replicated(location)]
        front: [f32; 3],
        #[replicated(location)]
        back: [f32; 3],
    }

    fn used() {
        Server::new(ServerConfig::default()).class::<Wagon>().set_area(Area::within(100.0));
    }
}

mod with_a_value {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Wagon {
        #[replicated(location = position)]
        position: [f32; 3],
    }
}

fn main() {}
