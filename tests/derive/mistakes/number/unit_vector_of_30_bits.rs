use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(quantize(unit_vector = 30))]
    value: [f32; 3],
}

fn main() {}
