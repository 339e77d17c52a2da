mod bits {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    #[replicated(all)]
    enum Stance {
        #[default]
        Idle,
        Run {
            #[replicated(bits = 9)]
            speed: u8,
        },
    }

    #[derive(Replicated, Default)]
    #[replicated(all)]
    struct Runner {
        stance: Stance,
    }
}

mod condition_inside_a_variant {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Pace {
        #[replicated(condition = OwnerOnly)]
        speed: u8,
    }

    #[derive(Replicated, Default)]
    #[replicated(all)]
    enum Stance {
        #[default]
        Idle,
        Run { pace: Pace },
    }

    #[derive(Replicated, Default)]
    #[replicated(all)]
    struct Runner {
        stance: Stance,
    }
}

fn main() {}
