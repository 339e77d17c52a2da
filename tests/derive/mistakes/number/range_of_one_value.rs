use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(range = 7..=7)]
    value: u16,
}

fn main() {}
