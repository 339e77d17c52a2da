use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(as = [f32; 3], bits = 5)]
    position: (f32, f32, f32),
}

fn main() {}
