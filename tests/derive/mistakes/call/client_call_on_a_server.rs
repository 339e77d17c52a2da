use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    ammo: u16,
}

#[rpcs]
impl Player {
    #[rpc(server, reliable)]
    fn fire(_call: &mut ClientCall<'_, Self>) {}
}

fn main() {}
