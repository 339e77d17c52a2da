use repl::prelude::*;

#[derive(FastArrayItem, Clone, Default)]
struct Wheel {
    #[replicated(location)]
    position: [f32; 3],
}

fn main() {}
