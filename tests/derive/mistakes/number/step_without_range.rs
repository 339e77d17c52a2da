use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(quantize(step = 0.1))]
    value: f32,
}

fn main() {}
