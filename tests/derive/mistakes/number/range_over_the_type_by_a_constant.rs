use repl::Replicated;

const MOST: u64 = 300;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(range = -5..=MOST)]
    value: i8,
}

fn main() {}
