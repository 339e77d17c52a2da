mod as_an_object {
    use repl::{Replicated, Server, ServerConfig};

    #[derive(Replicated, Default)]
    #[replicated(all)]
    enum Stance {
        #[default]
        Idle,
        Run { speed: u8 },
    }

    fn stand() {
        Server::new(ServerConfig::default()).spawn(Stance::Run { speed: 3 });
    }
}

mod no_property {
    use repl::Replicated;

    struct Speed;

    #[derive(Replicated, Default)]
    #[replicated(all)]
    enum Stance {
        #[default]
        Idle,
        Run { speed: Speed },
    }
}

mod skipped_without_default {
    use repl::Replicated;

    struct Plan;

    #[derive(Replicated, Default)]
    #[replicated(all)]
    enum Stance {
        #[default]
        Idle,
        Run {
            speed: u8,
            #[replicated(skip)]
            plan: Plan,
        },
    }
}

mod sent_as_another_type_without_default {
    use repl::Replicated;

    #[derive(Clone)]
    struct Metres(f32);

    impl From<Metres> for f32 {
        fn from(metres: Metres) -> Self {
            metres.0
        }
    }

    impl From<f32> for Metres {
        fn from(metres: f32) -> Self {
            Self(metres)
        }
    }

    #[derive(Replicated, Default)]
    #[replicated(all)]
    enum Stance {
        #[default]
        Idle,
        Run(#[replicated(as = f32)] Metres),
    }
}

fn main() {}
