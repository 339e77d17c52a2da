use repl::prelude::*;

// As a `u32` this is 1.
const MOST: u64 = 4_294_967_297;

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
