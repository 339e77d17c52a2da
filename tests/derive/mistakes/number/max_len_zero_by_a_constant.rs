use repl::Replicated;

const NOTHING: usize = 0;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(max_len = NOTHING)]
    scores: Vec<u8>,
}

fn main() {}
