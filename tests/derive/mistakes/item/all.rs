use repl::FastArrayItem;

#[derive(FastArrayItem, Clone, Default)]
#[replicated(all)]
struct Item {
    kind: u16,
}

fn main() {}
