use repl::FastArrayItem;

#[derive(FastArrayItem, Clone, Default)]
struct Item<'a> {
    kind: u16,
    name: &'a str,
}

fn main() {}
