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

fn main() {}
