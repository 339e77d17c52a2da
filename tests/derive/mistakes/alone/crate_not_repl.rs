use repl::Replicated;

#[derive(Replicated, Default)]
#[replicated(crate = "std")]
struct Player {
    #[replicated]
    health: u16,
}

fn main() {}
