use repl::prelude::*;

#[derive(Replicated, Default)]
struct Wagon {
    #[replicated(location)]
    front: [f32; 3],
    #[replicated(location)]
    back: [f32; 3],
}

fn main() {
    Server::new(ServerConfig::default()).set_area::<Wagon>(Area::within(100.0));
}
