use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated = "OwnerOnly"]
    ammo: u16,
}

fn main() {}
