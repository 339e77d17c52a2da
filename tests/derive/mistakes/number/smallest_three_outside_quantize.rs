use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(smallest_three = 10)]
    value: [f32; 4],
}

fn main() {}
