use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(quantize)]
    value: f32,
}

fn main() {}
