use repl::prelude::*;

// As a `u32` this is 705,032,704.
const MOST: u64 = 5_000_000_000;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    ammo: u16,
}

#[rpcs]
impl Player {
    #[rpc(server, reliable)]
    fn say(&mut self, #[replicated(max_len = MOST)] text: String) {
        drop(text);
    }
}

fn main() {}
