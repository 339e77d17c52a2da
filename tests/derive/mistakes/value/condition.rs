use repl::NetSerialize;

#[derive(NetSerialize, Clone, Default)]
struct Item {
    #[replicated(condition = OwnerOnly)]
    kind: u16,
}

fn main() {}
