use repl::FastArrayItem;

#[derive(FastArrayItem, Clone, Default)]
struct Item {
    #[replicated(saturate)]
    kind: u16,
}

fn main() {}
