use repl::prelude::*;

#[derive(Replicated, Default)]
struct Wagon {
    #[replicated(location = position)]
    position: [f32; 3],
}

fn main() {}
