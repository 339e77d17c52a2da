use repl::NetSerialize;

#[derive(NetSerialize, Clone, Default)]
struct Item {
    #[replicated(notify = on_kind)]
    kind: u16,
}

fn main() {}
