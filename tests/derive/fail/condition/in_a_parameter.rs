use repl::Replicated;

#[derive(Replicated, Default)]
struct Weapon {
    #[replicated(condition = OwnerOnly)]
    ammo: u16,
}

#[derive(Replicated, Default)]
struct Slot<T> {
    #[replicated]
    item: T,
}

const _: usize = Slot::<Weapon>::LAYOUT.properties();

fn main() {}
