use repl::prelude::*;

#[derive(NetSerialize, Clone)]
enum Order {
    Stay,
    Go {
        #[replicated(location)]
        to: [f32; 3],
    },
}

fn main() {}
