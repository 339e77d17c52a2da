use repl::prelude::*;

const MOST: u32 = 20_000;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    ammo: u16,
}

#[rpcs]
impl Player {
    #[rpc(server, reliable, per_second = MOST)]
    fn fire(&mut self) {}
}

fn main() {}
