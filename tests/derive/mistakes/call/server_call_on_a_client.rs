use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    ammo: u16,
}

#[rpcs]
impl Player {
    #[rpc(client, reliable)]
    fn hit(_call: &mut ServerCall<'_, Self>, _damage: u16) {}
}

fn main() {}
