use repl::Replicated;

#[derive(Replicated, Default)]
struct Sample<T> {
    #[replicated(quantize(step = 0.1, range = 0.0..=1.0))]
    value: T,
}

fn is_replicated<T: Replicated>() {}

fn main() {
    is_replicated::<Sample<f32>>();
    is_replicated::<Sample<u16>>();
}
