use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    weapon: Weapon,
}

#[derive(Default)]
struct Weapon {
    ammo: u16,
}

fn main() {}
