use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    ammo: u16,
}

impl Player {
    #[rpc(server, reliable)]
    fn fire(&mut self, #[replicated(bits = 4)] _direction: u16) {}
}

fn main() {}
