use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    ammo: u16,
}

#[rpcs]
impl Player {
    #[rpc(server, reliable, name = "shoot")]
    fn fire(&mut self) {}

    #[rpc(client, reliable)]
    fn shoot(&mut self) {}
}

fn main() {}
