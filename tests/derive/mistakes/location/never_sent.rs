use repl::prelude::*;

#[derive(Replicated, Default)]
struct Wagon {
    #[replicated(location, condition = Never)]
    position: [f32; 3],
}

fn main() {}
