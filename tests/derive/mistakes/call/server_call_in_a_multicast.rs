use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    ammo: u16,
}

#[rpcs]
impl Player {
    #[rpc(multicast, reliable)]
    fn explode(_call: &mut ServerCall<'_, Self>) {}
}

fn main() {}
