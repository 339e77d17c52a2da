use repl::prelude::*;

#[derive(Replicated, Default)]
#[replicated(all)]
struct Wagon {
    #[replicated(skip, location)]
    position: [f32; 3],
    load: u8,
}

fn main() {}
