use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(condition = "OwnerOnly")]
    ammo: u16,
}

fn main() {}
