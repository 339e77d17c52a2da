use repl::prelude::*;

#[derive(Replicated, Default)]
struct Wagon {
    #[replicated(location)]
    front: [f32; 3],
    #[replicated(location)]
    back: [f32; 3],
}

fn main() {
    Server::new(ServerConfig::default()).class::<Wagon>().set_area(Area::within(100.0));
}
