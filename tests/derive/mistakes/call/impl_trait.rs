use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    ammo: u16,
}

#[rpcs]
impl Player {
    #[rpc(server, reliable)]
    fn say(&mut self, _line: impl Into<String>) {}
}

fn main() {}
