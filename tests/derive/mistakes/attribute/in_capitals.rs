use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(Condition = OwnerOnly)]
    ammo: u16,
}

fn main() {}
