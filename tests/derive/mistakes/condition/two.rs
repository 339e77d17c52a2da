use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(condition = InitialOnly | OwnerOnly)]
    ammo: u16,
}

fn main() {}
