use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(condition = owner_only)]
    ammo: u16,
}

fn main() {}
