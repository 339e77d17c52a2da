use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    ammo: u16,
}

trait Weapon {}

#[rpcs]
impl dyn Weapon {
    #[rpc(server, reliable)]
    fn fire(&mut self) {}
}

fn main() {}
