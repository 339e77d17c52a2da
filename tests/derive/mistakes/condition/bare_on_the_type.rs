use repl::Replicated;

#[derive(Replicated, Default)]
#[replicated(OwnerOnly)]
struct Player {
    #[replicated]
    ammo: u16,
}

fn main() {}
