use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(quantize(smallest_three = 12, exact, exact))]
    value: [f32; 4],
}

fn main() {}
