use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(COND_SkipOwner)]
    ammo: u16,
}

fn main() {}
