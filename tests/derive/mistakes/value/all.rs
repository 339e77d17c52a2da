use repl::NetSerialize;

#[derive(NetSerialize, Clone, Default)]
#[replicated(all)]
struct Item {
    kind: u16,
}

fn main() {}
