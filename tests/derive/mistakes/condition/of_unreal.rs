use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(condition = COND_OwnerOnly)]
    ammo: u16,
}

fn main() {}
