use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(quantize(range = 0.0..=1.0))]
    value: f32,
}

fn main() {}
