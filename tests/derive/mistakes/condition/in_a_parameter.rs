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

const _: () = {
    let _ = Slot::<Weapon>::LAYOUT;
};

fn main() {}
