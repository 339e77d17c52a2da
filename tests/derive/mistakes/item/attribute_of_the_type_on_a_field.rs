use repl::FastArrayItem;

#[derive(FastArrayItem, Clone, Default)]
struct Item {
    #[replicated(callbacks)]
    kind: u16,
}

fn main() {}
