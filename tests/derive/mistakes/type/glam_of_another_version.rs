use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    position: glam::Vec3,
}

fn main() {}
