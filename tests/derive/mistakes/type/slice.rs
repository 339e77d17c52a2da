use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    scores: &'static [u8],
}

fn main() {}
