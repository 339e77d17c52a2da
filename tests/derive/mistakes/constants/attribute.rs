mod push_in_a_nested_struct {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Weapon {
        #[replicated(push)]
        ammo: u16,
    }

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        weapon: Option<Weapon>,
    }
}

mod push_in_an_option_of_a_box {
    use repl::Replicated;

    #[derive(Replicated, Clone, Default)]
    struct Hand {
        #[replicated(push)]
        cards: u32,
    }

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        hand: Option<Box<Hand>>,
    }
}

fn main() {}
