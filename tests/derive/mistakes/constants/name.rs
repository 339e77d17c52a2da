mod no_such_property {
    use repl::{PropertyIndex, Replicated};

    #[derive(Replicated, Default)]
    #[replicated(all)]
    struct Player {
        health: u16,
        ammo: u16,
    }

    const HEALTH: PropertyIndex<Player> = Player::LAYOUT.property("helth");
}

fn main() {}
