use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    ammo: u16,
}

#[rpcs]
impl Player {
    #[rpc(server, reliable, waits)]
    fn aim(&mut self, _at: ObjectRef<Player>) {}
}

fn main() {}
