use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    ammo: u16,
}

#[rpcs]
impl Player {
    #[rpc(server, reliable, quantize(step = 0.01, range = -1.0..=1.0))]
    fn turn(&mut self, _angle: f32) {}
}

fn main() {}
