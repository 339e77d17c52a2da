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

fn main() {}
