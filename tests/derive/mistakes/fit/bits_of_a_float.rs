use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(bits = 4)]
    value: f32,
}

fn main() {}
