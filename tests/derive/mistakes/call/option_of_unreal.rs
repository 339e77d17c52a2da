use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    ammo: u16,
}

#[rpcs]
impl Player {
    #[rpc(NetMulticast, reliable)]
    fn explode(&mut self) {}
}

fn main() {}
