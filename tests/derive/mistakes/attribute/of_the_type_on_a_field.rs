use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(all)]
    ammo: u16,
}

fn main() {}
