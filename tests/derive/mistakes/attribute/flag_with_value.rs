use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(push = true)]
    ammo: u16,
}

fn main() {}
