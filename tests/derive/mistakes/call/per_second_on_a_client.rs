use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    ammo: u16,
}

#[rpcs]
impl Player {
    #[rpc(client, reliable, per_second = 10)]
    fn hit(&mut self) {}
}

fn main() {}
