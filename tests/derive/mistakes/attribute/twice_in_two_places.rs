use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(condition = OwnerOnly)]
    #[replicated(condition = SkipOwner)]
    ammo: u16,
}

fn main() {}
