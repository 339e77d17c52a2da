use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(push, push)]
    ammo: u16,
}

fn main() {}
