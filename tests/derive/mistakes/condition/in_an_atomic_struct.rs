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

fn main() {}
