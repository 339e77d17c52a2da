use repl::NetSerialize;

#[derive(NetSerialize)]
struct Item {
    kind: u16,
}

fn main() {}
