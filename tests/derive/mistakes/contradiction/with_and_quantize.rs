use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(with = module, quantize(step = 0.1, range = 0.0..=1.0))]
    value: f32,
}

fn main() {}
