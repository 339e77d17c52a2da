use repl::FastArrayItem;

#[derive(FastArrayItem, Clone, Default)]
struct Item {
    #[replicated(condition = OwnerOnly)]
    kind: u16,
}

fn main() {}
