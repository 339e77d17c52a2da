use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(quantize(step = 0.5, range = 0.0..=f64::INFINITY))]
    lean: f32,
}

fn main() {}
