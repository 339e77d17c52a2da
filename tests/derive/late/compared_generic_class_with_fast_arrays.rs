use repl::prelude::*;

#[derive(Replicated, Default)]
struct Slot<T: Default> {
    #[replicated]
    item: T,
}

fn main() {
    let mut server = Server::new(ServerConfig::default());
    let live = Slot::<FastArray<u8>>::default();
    let object = server.external().spawn(&live);
    server.external().compare(object, &live).unwrap();
}
