mod attribute_of_a_variant {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    #[replicated(all)]
    enum Stance {
        #[default]
        Idle,
        #[replicated(skip)]
        Run { speed: u8 },
    }
}

mod callbacks {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    #[replicated(all, callbacks)]
    enum Stance {
        #[default]
        Idle,
        Run { speed: u8 },
    }
}

mod condition {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    #[replicated(all)]
    enum Stance {
        #[default]
        Idle,
        Run {
            #[replicated(condition = OwnerOnly)]
            speed: u8,
        },
    }
}

mod holds_itself {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    #[replicated(all)]
    enum List {
        #[default]
        End,
        More { number: u8, rest: Vec<List> },
    }
}

mod location {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    #[replicated(all)]
    enum Stance {
        #[default]
        Idle,
        Run {
            #[replicated(location)]
            at: [f32; 3],
        },
    }
}

mod no_variants {
    use repl::Replicated;

    #[derive(Replicated)]
    enum Nothing {}
}

mod nothing_marked {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    enum Stance {
        #[default]
        Idle,
        Run { speed: u8 },
    }
}

mod notify {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    #[replicated(all)]
    enum Stance {
        #[default]
        Idle,
        Run {
            #[replicated(notify = on_speed, notify_always)]
            speed: u8,
        },
    }
}

mod push_and_starts_off {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    #[replicated(all)]
    enum Stance {
        #[default]
        Idle,
        Run(#[replicated(push)] u8, #[replicated(starts_off)] u8),
    }
}

mod skip_without_all {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    enum Stance {
        #[default]
        Idle,
        Run(#[replicated(skip)] u8),
    }
}

mod two_fields_of_one_name {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    #[replicated(all)]
    enum Stance {
        #[default]
        Idle,
        Run {
            speed: u8,
            #[replicated(name = "speed")]
            pace: u8,
        },
    }
}

mod two_variants_of_one_name {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    enum Stance {
        #[default]
        Idle,
        #[replicated(name = "Idle")]
        Run,
    }
}

fn main() {}
