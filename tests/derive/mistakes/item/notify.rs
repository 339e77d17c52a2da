use repl::FastArrayItem;

#[derive(FastArrayItem, Clone, Default)]
struct Item {
    #[replicated(notify = on_kind)]
    kind: u16,
}

fn main() {}
