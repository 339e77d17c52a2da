use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(quantize(unit_vector = 10))]
    value: [f64; 3],
}

fn main() {}
