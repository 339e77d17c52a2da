use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(quantize(smallest_three = 10))]
    value: [f32; 3],
}

fn main() {}
