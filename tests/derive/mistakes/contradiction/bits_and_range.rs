use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(bits = 4, range = 0..=9)]
    value: u16,
}

fn main() {}
