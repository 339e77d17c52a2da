use repl::FastArrayItem;

#[derive(FastArrayItem, Clone, Default)]
struct Item {
    #[replicated(push)]
    kind: u16,
}

fn main() {}
