use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(precision)]
    speed: f32,
}

fn main() {}
