use repl::{NetSerialize, Replicated};

#[derive(Replicated, Default, Clone)]
struct Weapon {
    #[replicated(condition = OwnerOnly)]
    ammo: u16,
}

#[derive(NetSerialize, Clone)]
struct Loadout {
    weapons: (u8, Weapon),
}

fn main() {}
