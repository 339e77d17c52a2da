mod always_without_a_method {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(notify_always)]
        health: u16,
    }
}

mod called {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(notify = on_ammo())]
        ammo: u16,
    }
}

mod in_parentheses {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(notify(on_ammo))]
        ammo: u16,
    }
}

mod quoted {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(notify = "on_health")]
        health: u16,
    }
}

mod under_never {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(condition = Never, notify = on_health)]
        health: u16,
    }
}

fn main() {}
