use repl::NetSerialize;

#[derive(NetSerialize, Clone, Default)]
#[replicated(callbacks)]
struct Item {
    kind: u16,
}

fn main() {}
