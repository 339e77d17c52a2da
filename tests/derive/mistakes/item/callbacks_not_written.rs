use repl::FastArrayItem;

#[derive(FastArrayItem, Clone, Default)]
#[replicated(callbacks)]
struct Item {
    kind: u16,
}

fn main() {}
