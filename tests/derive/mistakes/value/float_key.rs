use std::collections::HashMap;

use repl::NetSerialize;

#[derive(NetSerialize, Clone, Default)]
struct Heights {
    by_distance: HashMap<f32, u8>,
}

fn main() {}
