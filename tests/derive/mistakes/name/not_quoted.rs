use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(name = hp)]
    health: u16,
}

fn main() {}
