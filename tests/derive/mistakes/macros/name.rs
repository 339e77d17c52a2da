mod empty {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(name = "")]
        health: u16,
    }
}

mod not_quoted {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(name = hp)]
        health: u16,
    }
}

mod two_fields {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        health: u16,
        #[replicated(name = "health")]
        hit_points: u16,
    }
}

mod two_variants {
    use repl::NetSerialize;

    #[derive(NetSerialize, Clone)]
    enum Stance {
        Idle,
        #[replicated(name = "Idle")]
        Standing,
    }
}

fn main() {}
