use repl::NetSerialize;

#[derive(NetSerialize, Clone, Copy)]
union Either {
    int: u32,
    float: f32,
}

fn main() {}
