use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    health: u16,
}

#[rpcs]
impl Player {
    #[rpc(server, reliable)]
    fn fire(&mut self) {}
}

#[rpcs]
impl Player {
    #[rpc(server, reliable)]
    fn jump(&mut self) {}
}

fn main() {}
