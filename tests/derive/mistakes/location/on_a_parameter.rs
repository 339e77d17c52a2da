use repl::prelude::*;

#[derive(Replicated, Default)]
struct Wagon {
    #[replicated]
    load: u8,
}

#[rpcs]
impl Wagon {
    #[rpc(server, reliable)]
    fn go(&mut self, #[replicated(location)] to: [f32; 3]) {}
}

fn main() {}
