use repl::prelude::*;

#[derive(Default)]
struct Player {
    health: u16,
}

fn main() {
    let mut server = Server::new(ServerConfig::default());
    server.spawn(Player { health: 100 });
}
