use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    ammo: u16,
}

#[rpcs(krate = "repl")]
impl Player {
    #[rpc(server, reliable)]
    fn fire(&mut self) {}
}

fn main() {}
