use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    ammo: u16,
}

#[rpcs]
impl Player {
    #[rpc(server, reliable, validate = may_fire)]
    fn fire(&mut self, _direction: u16, _at: [f32; 3]) {}
}

fn main() {}
