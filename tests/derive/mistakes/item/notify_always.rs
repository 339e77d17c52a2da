use repl::FastArrayItem;

#[derive(FastArrayItem, Clone, Default)]
struct Item {
    #[replicated(notify_always)]
    kind: u16,
}

fn main() {}
