use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(cond = OwnerOnly)]
    ammo: u16,
}

fn main() {}
