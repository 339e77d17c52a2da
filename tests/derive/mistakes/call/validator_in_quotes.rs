use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    ammo: u16,
}

#[rpcs]
impl Player {
    #[rpc(server, reliable, validate = "may_fire")]
    fn fire(&mut self) {}
}

fn main() {}
