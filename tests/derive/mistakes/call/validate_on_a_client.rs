use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    ammo: u16,
}

#[rpcs]
impl Player {
    #[rpc(client, reliable, validate = may_hit)]
    fn hit(&mut self) {}

    fn may_hit(&self, _: ConnectionId) -> bool {
        true
    }
}

fn main() {}
