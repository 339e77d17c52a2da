use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    ammo: u16,
}

#[rpcs]
impl Player {
    #[rpc(server, reliable, per_second = 5, per_second = 6)]
    fn fire(&mut self) {}
}

fn main() {}
