use repl::Replicated;

// As an `i128` this is -1.
const LEAST: u128 = u128::MAX;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(range = LEAST..=5)]
    score: i8,
}

fn main() {}
