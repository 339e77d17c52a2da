mod in_a_box_in_a_value {
    use repl::{NetSerialize, Replicated};

    #[derive(Replicated, Clone, Default)]
    struct Hand {
        #[replicated(notify = on_cards)]
        cards: u32,
    }

    impl Hand {
        fn on_cards(&mut self) {}
    }

    #[derive(NetSerialize, Clone, Default)]
    enum Turn {
        #[default]
        Waits,
        Plays(u8, Box<Hand>),
    }
}

mod in_a_nested_struct {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Weapon {
        #[replicated(notify = on_ammo)]
        ammo: u16,
    }

    impl Weapon {
        fn on_ammo(&mut self) {}
    }

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        weapons: Vec<Weapon>,
    }
}

fn main() {}
