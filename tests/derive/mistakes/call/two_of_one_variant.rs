use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    ammo: u16,
}

#[rpcs]
impl Player {
    #[rpc(server, reliable)]
    fn fire_at(&mut self) {}

    #[rpc(client, reliable)]
    fn fire__at(&mut self) {}
}

fn main() {}
