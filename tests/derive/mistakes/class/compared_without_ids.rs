use repl::prelude::*;

#[derive(Replicated, Default)]
struct Bag {
    #[replicated]
    items: Option<FastArray<u8>>,
}

fn hand_over(server: &mut Server, object: ObjectRef<Bag>, bag: &Bag) {
    server.external().compare(object, bag).unwrap();
}

fn main() {}
