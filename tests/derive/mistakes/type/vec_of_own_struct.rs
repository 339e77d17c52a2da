use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    weapons: Vec<Weapon>,
}

struct Weapon {
    ammo: u16,
}

fn main() {}
