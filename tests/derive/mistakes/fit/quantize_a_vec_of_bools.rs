use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(quantize(step = 0.1, range = 0.0..=1.0))]
    value: Vec<bool>,
}

fn main() {}
