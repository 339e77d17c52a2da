use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(quantize(step = 0.5, range = 0.0..=1e400))]
    speed: f32,
}

fn main() {}
