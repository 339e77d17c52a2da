use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(range = 0..=340282366920938463463374607431768211455)]
    gold: u64,
}

fn main() {}
