use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(range = 0..)]
    value: u16,
}

fn main() {}
