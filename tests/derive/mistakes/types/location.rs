mod function_without_a_position {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Wagon {
        #[replicated]
        position: f32,
    }

    fn used() {
        Server::new(ServerConfig::default())
            .class::<Wagon>()
            .locate(Area::within(100.0), |wagon| wagon.position);
    }
}

mod no_location {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Wagon {
        #[replicated]
        position: [f32; 3],
    }

    fn used() {
        Server::new(ServerConfig::default()).class::<Wagon>().set_area(Area::within(100.0));
    }
}

mod not_a_position {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Transform {
        #[replicated]
        translation: [f32; 3],
    }

    #[derive(Replicated, Default)]
    struct Wagon {
        #[replicated(location)]
        place: Transform,
    }
}

fn main() {}
