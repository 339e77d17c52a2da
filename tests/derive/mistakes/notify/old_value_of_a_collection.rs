use repl::{FastArray, Replicated};

#[derive(Replicated, Default)]
struct Player {
    #[replicated(notify = on_scores)]
    scores: FastArray<u32>,
}

impl Player {
    fn on_scores(&mut self, _old: &FastArray<u32>) {}
}

fn main() {}
