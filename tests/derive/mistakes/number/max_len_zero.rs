use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(max_len = 0)]
    value: String,
}

fn main() {}
