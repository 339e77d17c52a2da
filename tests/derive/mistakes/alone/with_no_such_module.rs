use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(with = heading)]
    heading: f32,
}

fn main() {}
