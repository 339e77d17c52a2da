use repl::prelude::*;

struct Menu;

#[rpcs]
impl Menu {
    #[rpc(server, reliable)]
    fn open(&mut self) {}
}

fn main() {}
