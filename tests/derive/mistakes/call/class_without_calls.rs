use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    health: u16,
}

fn main() {
    Server::new(ServerConfig::default()).register_calls::<Player>();
}
