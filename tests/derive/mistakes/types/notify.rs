mod method_of_a_trait {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(notify = on_health)]
        health: u16,
    }

    trait Events {
        fn on_health(&mut self);
    }

    impl Events for Player {
        fn on_health(&mut self) {}
    }
}

mod misspelt_method {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(notify = on_helth)]
        health: u16,
    }

    impl Player {
        fn on_health(&mut self, _old: &u16) {}
    }
}

mod no_such_method {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(notify = on_health)]
        health: u16,
    }
}

mod old_value_by_value {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(notify = on_health)]
        health: u16,
    }

    impl Player {
        fn on_health(&mut self, _old: u16) {}
    }
}

mod old_value_of_a_collection {
    use repl::{FastArray, Replicated};

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(notify = on_scores)]
        scores: FastArray<u32>,
    }

    impl Player {
        fn on_scores(&mut self, _old: &FastArray<u32>) {}
    }
}

mod old_value_of_another_type {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(notify = on_health)]
        health: u16,
    }

    impl Player {
        fn on_health(&mut self, _old: &u32) {}
    }
}

mod too_many_parameters {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(notify = on_health)]
        health: u16,
    }

    impl Player {
        fn on_health(&mut self, _old: &u16, _new: &u16) {}
    }
}

fn main() {}
