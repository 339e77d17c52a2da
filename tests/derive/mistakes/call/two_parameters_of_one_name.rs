use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    ammo: u16,
}

#[rpcs]
impl Player {
    #[rpc(server, reliable)]
    fn fire(&mut self, #[replicated(name = "y")] _x: f32, #[replicated(name = "y")] _y: f32) {}
}

fn main() {}
