use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(range = 100)]
    value: u16,
}

fn main() {}
