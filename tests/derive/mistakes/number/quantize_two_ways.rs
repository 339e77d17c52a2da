use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(quantize(smallest_three = 10, unit_vector = 10))]
    value: [f32; 4],
}

fn main() {}
