use repl::prelude::*;

#[derive(NetSerialize, Clone)]
enum Order {
    Stay,
    #[replicated(location)]
    Go([f32; 3]),
}

fn main() {}
