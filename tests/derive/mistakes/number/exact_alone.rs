use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(quantize(exact))]
    value: f32,
}

fn main() {}
