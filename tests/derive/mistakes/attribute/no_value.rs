use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(condition)]
    ammo: u16,
}

fn main() {}
