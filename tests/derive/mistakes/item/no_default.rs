use repl::FastArrayItem;

#[derive(FastArrayItem)]
struct Item {
    kind: u16,
}

fn main() {}
