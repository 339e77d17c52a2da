use repl::prelude::*;

#[derive(Replicated, Default)]
struct Wagon {
    #[replicated(position)]
    place: [f32; 3],
}

fn main() {}
