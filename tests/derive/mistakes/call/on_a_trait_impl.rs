use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    ammo: u16,
}

trait Fires {
    fn fire(&mut self);
}

#[rpcs]
impl Fires for Player {
    #[rpc(server, reliable)]
    fn fire(&mut self) {}
}

fn main() {}
