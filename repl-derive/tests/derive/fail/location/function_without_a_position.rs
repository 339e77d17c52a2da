use repl::prelude::*;

#[derive(Replicated, Default)]
struct Wagon {
    #[replicated]
    position: f32,
}

fn main() {
    Server::new(ServerConfig::default()).locate(Area::within(100.0), |wagon: &Wagon| wagon.position);
}
