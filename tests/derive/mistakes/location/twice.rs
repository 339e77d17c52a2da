use repl::prelude::*;

#[derive(Replicated, Default)]
struct Wagon {
    #[replicated(location, location)]
    position: [f32; 3],
}

fn main() {}
