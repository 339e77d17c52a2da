use repl::NetSerialize;

#[derive(NetSerialize, Clone, Default)]
struct Item {
    #[replicated(push)]
    kind: u16,
}

fn main() {}
