use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(push = false)]
    ammo: u16,
}

fn main() {}
