use repl::Replicated;

#[derive(Replicated)]
struct Player {
    #[replicated]
    health: u16,
}

fn main() {}
