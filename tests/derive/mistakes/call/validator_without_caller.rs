use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    ammo: u16,
}

#[rpcs]
impl Player {
    #[rpc(server, reliable, validate = may_fire)]
    fn fire(&mut self, _direction: u16) {}

    fn may_fire(&self, direction: &u16) -> bool {
        *direction < 360
    }
}

fn main() {}
