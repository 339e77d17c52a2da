use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(bits = 65)]
    value: u64,
}

fn main() {}
