use repl::FastArrayItem;

#[derive(FastArrayItem, Clone, Default)]
struct Item {
    #[replicated(colour = 3)]
    kind: u16,
}

fn main() {}
