use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    ammo: u16,
}

#[derive(Replicated, Default)]
struct Door;

#[rpcs]
impl Player {
    #[rpc(server, reliable)]
    fn fire(_call: &mut ServerCall<'_, Door>) {}
}

fn main() {}
