use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    ammo: u16,
}

#[derive(Replicated, Default)]
struct Squad<T> {
    #[replicated]
    members: Vec<T>,
}

#[rpcs]
impl<T> Squad<T> {
    #[rpc(server, reliable)]
    fn disband(&mut self) {}
}

fn main() {}
