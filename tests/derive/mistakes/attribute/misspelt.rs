use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(conditon = OwnerOnly)]
    ammo: u16,
}

fn main() {}
