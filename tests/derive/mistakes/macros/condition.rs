mod bare {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(OwnerOnly)]
        ammo: u16,
    }
}

mod bare_in_other_style {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(initial_only, push)]
        ammo: u16,
    }
}

mod bare_misspelt {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(OwnerOnyl)]
        ammo: u16,
    }
}

mod bare_of_unreal {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(COND_SkipOwner)]
        ammo: u16,
    }
}

mod bare_on_the_type {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    #[replicated(OwnerOnly)]
    struct Player {
        #[replicated]
        ammo: u16,
    }
}

mod in_parentheses {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(condition(SkipOwner))]
        ammo: u16,
    }
}

mod misspelt {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(condition = OwnerOly)]
        ammo: u16,
    }
}

mod misspelt_in_a_generic_struct {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Slot<T> {
        #[replicated(condition = OwnrOnly)]
        item: T,
    }
}

mod net_group {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(condition = NetGroup)]
        ammo: u16,
    }
}

mod of_unreal {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(condition = COND_OwnerOnly)]
        ammo: u16,
    }
}

mod other_style {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(condition = owner_only)]
        ammo: u16,
    }
}

mod qualified {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(condition = Condition::OwnerOnly)]
        ammo: u16,
    }
}

mod quoted {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(condition = "OwnerOnly")]
        ammo: u16,
    }
}

mod starts_off_alone {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(starts_off)]
        value: u16,
    }
}

mod starts_off_under_another {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(condition = OwnerOnly, starts_off)]
        value: u16,
    }
}

mod team {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(condition = TeamOnly)]
        ammo: u16,
    }
}

mod two {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(condition = InitialOnly | OwnerOnly)]
        ammo: u16,
    }
}

mod unknown {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(condition = Sometimes)]
        ammo: u16,
    }
}

fn main() {}
