use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    ammo: u16,
}

#[rpcs]
struct Weapon {
    ammo: u16,
}

fn main() {}
