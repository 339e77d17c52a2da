use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(quantize(smallest_three = 1))]
    value: [f32; 4],
}

fn main() {}
