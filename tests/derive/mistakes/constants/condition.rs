mod in_a_box_in_a_generic_value {
    use repl::{NetSerialize, Replicated};

    #[derive(Replicated, Clone, Default)]
    struct Hand {
        #[replicated(condition = OwnerOnly)]
        cards: u32,
    }

    #[derive(NetSerialize, Clone, Default)]
    struct Turn<T> {
        of: Box<T>,
    }

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        turn: Turn<Hand>,
    }
}

mod in_a_nested_struct {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Weapon {
        #[replicated(condition = OwnerOnly)]
        ammo: u16,
    }

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        weapon: Weapon,
    }
}

mod in_a_parameter {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Weapon {
        #[replicated(condition = OwnerOnly)]
        ammo: u16,
    }

    #[derive(Replicated, Default)]
    struct Slot<T> {
        #[replicated]
        item: T,
    }

    const _: () = {
        let _ = Slot::<Weapon>::LAYOUT;
    };
}

mod in_a_queue {
    use std::collections::VecDeque;

    use repl::Replicated;

    #[derive(Replicated, Clone, Default)]
    struct Hand {
        #[replicated(condition = OwnerOnly)]
        cards: u32,
    }

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        hands: VecDeque<Hand>,
    }
}

mod in_a_value {
    use repl::{NetSerialize, Replicated};

    #[derive(Replicated, Default, Clone)]
    struct Weapon {
        #[replicated(condition = OwnerOnly)]
        ammo: u16,
    }

    #[derive(NetSerialize, Clone)]
    struct Loadout {
        weapons: (u8, Weapon),
    }
}

mod in_an_atomic_struct {
    use repl::Replicated;

    #[derive(Replicated, Default, Clone)]
    struct Weapon {
        #[replicated(condition = OwnerOnly)]
        ammo: u16,
    }

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(atomic)]
        weapon: Weapon,
    }
}

fn main() {}
