use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(initial_only, push)]
    ammo: u16,
}

fn main() {}
