use repl::prelude::*;

#[derive(Replicated, Default)]
#[replicated(location)]
struct Wagon {
    #[replicated]
    position: [f32; 3],
}

fn main() {}
