use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(range = 0..=100)]
    value: u128,
}

fn main() {}
