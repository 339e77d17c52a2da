use repl::prelude::*;

#[derive(Replicated, Default)]
struct Transform {
    #[replicated]
    translation: [f32; 3],
}

#[derive(Replicated, Default)]
struct Wagon {
    #[replicated(location)]
    place: Transform,
}

fn main() {}
