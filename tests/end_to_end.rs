//! The thinnest thread from end to end.

use std::time::Duration;

use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(notify = on_health)]
    health: u16,
    #[replicated]
    items: Vec<u8>,
    #[replicated]
    target: ObjectRef<Player>,
    heard: Vec<u16>,
}

impl Player {
    fn on_health(&mut self, old: &u16) {
        self.heard.push(*old);
    }
}

fn step(server: &mut Server, client: &mut Client, connection: ConnectionId, now: Duration) {
    client.tick(now);
    while let Some(packet) = client.poll_transmit() {
        server.receive(connection, now, packet);
    }
    server.tick(now);
    while let Some(packet) = server.poll_transmit(connection) {
        client.receive(now, packet).expect("a packet of the server");
    }
}

#[test]
fn a_change_on_the_server_reaches_the_client() {
    let mut server = Server::new(ServerConfig::default());
    let mut client = Client::new(ClientConfig::default(), 1);
    client.register::<Player>();
    let player = server.spawn(Player { health: 100, ..Player::default() });
    let connection = server.connect(Duration::ZERO);
    let mut now = Duration::ZERO;
    for _ in 0..4 {
        step(&mut server, &mut client, connection, now);
        now += Duration::from_millis(16);
    }
    assert_eq!(client.get(player).map(|player| player.health), Some(100));
    server[player].health -= 10;
    server[player].items = vec![1, 2, 3];
    server[player].target = player;
    step(&mut server, &mut client, connection, now);
    let replica = client.get(player).expect("the player is there");
    assert_eq!((replica.health, &replica.items, replica.target), (90, &vec![1, 2, 3], player));
    assert_eq!(replica.heard, [0, 100]);
    let sent = server.stats(connection).map(|stats| stats.bytes_sent);
    now += Duration::from_millis(16);
    step(&mut server, &mut client, connection, now);
    step(&mut server, &mut client, connection, now);
    assert_eq!(server.stats(connection).map(|stats| stats.bytes_sent), sent);
}
