use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    ammo: u16,
}

#[rpcs]
impl Player {
    #[rpc(server, reliabel)]
    fn fire(&mut self, #[replicated(skip)] _direction: u16) -> bool {
        true
    }

    #[rpc(client, multicast, reliable)]
    async fn hit(self, _by: &str) {}
}

fn uses(client: &mut Client, player: ObjectRef<Player>) {
    let _ = client.call(player).fire(90);
    let _ = client.call(player).hit();
}

fn main() {}
