use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    ammo: u16,
}

#[rpcs]
impl Player {
    #[rpc(client, unreliable, waits)]
    fn hit(&mut self, _by: ObjectRef<Player>) {}
}

fn main() {}
