use repl::Replicated;

const STEP: f64 = 0.0;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(quantize(step = STEP, range = -1.0..=1.0))]
    lean: f32,
}

fn main() {}
