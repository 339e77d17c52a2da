use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    ammo: u16,
}

#[rpcs]
impl Player {
    #[cfg(debug_assertions)]
    #[rpc(server, reliable)]
    fn cheat(&mut self) {}
}

fn main() {}
