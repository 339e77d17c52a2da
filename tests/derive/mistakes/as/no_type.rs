use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(as)]
    position: (f32, f32, f32),
}

fn main() {}
