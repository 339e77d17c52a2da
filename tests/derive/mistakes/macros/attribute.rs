mod every_mistake_is_reported {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    #[replicated(alll)]
    struct Player {
        #[replicated(condition = Owner)]
        ammo: u16,
        #[replicated(bits = 0, push = 1)]
        health: u16,
        #[replicated(skip, notify_always)]
        name: String,
    }

    fn is_replicated<T: Replicated>() {}

    fn used() {
        is_replicated::<Player>();
    }
}

mod flag_is_false {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(push = false)]
        ammo: u16,
    }
}

mod flag_with_value {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(push = true)]
        ammo: u16,
    }
}

mod in_capitals {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(Condition = OwnerOnly)]
        ammo: u16,
    }
}

mod misspelt {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(conditon = OwnerOnly)]
        ammo: u16,
    }
}

mod no_comma {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(push condition = OwnerOnly)]
        ammo: u16,
    }
}

mod no_name {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated("push")]
        ammo: u16,
    }
}

mod no_parentheses {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated = "OwnerOnly"]
        ammo: u16,
    }
}

mod no_value {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(condition)]
        ammo: u16,
    }
}

mod of_a_field_on_a_variant {
    use repl::NetSerialize;

    #[derive(NetSerialize, Clone)]
    enum Stance {
        Idle,
        #[replicated(skip)]
        Run(u8),
    }
}

mod of_a_field_on_the_type {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    #[replicated(condition = OwnerOnly)]
    struct Player {
        #[replicated]
        ammo: u16,
    }
}

mod of_another_name {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(cond = OwnerOnly)]
        ammo: u16,
    }
}

mod of_another_name_alone {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(precision)]
        speed: f32,
    }
}

mod of_the_type_on_a_field {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(all)]
        ammo: u16,
    }
}

mod of_unreal {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(ReplicatedUsing = on_ammo)]
        ammo: u16,
    }
}

mod twice {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(push, push)]
        ammo: u16,
    }
}

mod twice_in_two_places {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(condition = OwnerOnly)]
        #[replicated(condition = SkipOwner)]
        ammo: u16,
    }
}

mod unknown {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(serializer)]
        ammo: u16,
    }
}

fn main() {}
