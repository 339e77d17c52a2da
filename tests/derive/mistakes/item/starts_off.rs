use repl::FastArrayItem;

#[derive(FastArrayItem, Clone, Default)]
struct Item {
    #[replicated(starts_off)]
    kind: u16,
}

fn main() {}
