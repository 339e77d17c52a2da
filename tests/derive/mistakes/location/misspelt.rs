use repl::prelude::*;

#[derive(Replicated, Default)]
struct Wagon {
    #[replicated(loaction)]
    position: [f32; 3],
}

fn main() {}
