use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(max_len = 4)]
    value: [u8; 8],
}

fn main() {}
