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

fn main() {}
