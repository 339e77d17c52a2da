use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(quantize(unit_vector = 12, exact = true))]
    value: [f32; 3],
}

fn main() {}
