use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(name = "")]
    health: u16,
}

fn main() {}
