use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    health: u16,
    ammo: u16,
}

fn main() {}
