use repl::Replicated;

#[derive(Replicated, Default)]
struct Slot<T> {
    #[replicated(condition = OwnrOnly)]
    item: T,
}

fn main() {}
