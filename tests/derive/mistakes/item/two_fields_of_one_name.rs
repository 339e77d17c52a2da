use repl::FastArrayItem;

#[derive(FastArrayItem, Clone, Default)]
struct Item {
    kind: u16,
    #[replicated(name = "kind")]
    class: u16,
}

fn main() {}
