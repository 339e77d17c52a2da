use repl::prelude::*;

#[derive(Replicated, Default)]
struct Wagon {
    #[replicated]
    position: f32,
}

fn main() {
    Server::new(ServerConfig::default()).class::<Wagon>().locate(Area::within(100.0), |wagon| wagon.position);
}
