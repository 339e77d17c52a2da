use repl::Replicated;

#[derive(Replicated, Default)]
#[replicated(callbacks)]
struct Player {
    #[replicated]
    health: u16,
}

fn main() {}
