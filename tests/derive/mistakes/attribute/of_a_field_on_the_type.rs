use repl::Replicated;

#[derive(Replicated, Default)]
#[replicated(condition = OwnerOnly)]
struct Player {
    #[replicated]
    ammo: u16,
}

fn main() {}
