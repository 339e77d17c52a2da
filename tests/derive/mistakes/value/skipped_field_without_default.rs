use repl::NetSerialize;

#[derive(Clone)]
struct Opened;

#[derive(NetSerialize, Clone)]
struct Item {
    kind: u16,
    #[replicated(skip)]
    opened: Opened,
}

fn main() {}
