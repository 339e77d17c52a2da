use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    ammo: u16,
}

#[rpcs]
impl Player {
    #[rpc(server, reliable)]
    fn fire(&mut self, _door: Door) {}
}

#[derive(Replicated, Default)]
struct Door {
    #[replicated]
    open: bool,
}

fn main() {}
