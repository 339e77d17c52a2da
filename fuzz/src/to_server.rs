//! A fuzzer of the server: the input is a list of a client's packets, from the handshake on. The server has a
//! few objects.
//!
//! *Invariant:* no packet of a client changes the server's objects.

use std::time::Duration;

use repl::prelude::*;
use repl::{BitReader, CongestionControl};

use super::classes::{Actor, Pebble, change};
use super::forge::seal;
use super::packets::{SESSION, split};

const TICK: Duration = Duration::from_millis(16);

/// A server that receives one packet of its only client in each tick, and also changes its objects in each
/// tick.
pub struct Host {
    server: Server,
    connection: ConnectionId,
    actors: Vec<ObjectRef<Actor>>,
    now: Duration,
    ticks: usize,
    /// The token that the client's packets of state must include, once the server has sent it.
    token: u64,
}

impl Host {
    /// Creates a server whose packets have at most `mtu_bytes` bytes.
    pub fn new(mtu_bytes: usize) -> Self {
        let mut server = Server::new(ServerConfig {
            mtu_bytes,
            max_objects: 64,
            max_object_bytes: 8_192,
            congestion_control: CongestionControl::Off,
            ..ServerConfig::default()
        });
        let actors = (0..2).map(|_| server.spawn(Actor { name: "Ada".into(), ..Actor::default() })).collect();
        server.spawn(Pebble { weight: 1, calls: 0 });
        let connection = server.connect(Duration::ZERO);
        Self { server, connection, actors, now: Duration::ZERO, ticks: 0, token: 0 }
    }

    /// Passes a packet with this content to the server.
    pub fn hear(&mut self, content: &[u8]) {
        let before = self.state();
        let is_control = content.first().is_some_and(|first| first & 1 == 1);
        let session = if is_control { SESSION } else { SESSION ^ self.token };
        self.server.receive(self.connection, self.now, &seal(content, session));
        assert_eq!(self.state(), before, "a client changed something");
    }

    fn state(&self) -> Vec<(ObjectRef<Actor>, Actor)> {
        self.server.objects::<Actor>().map(|(reference, actor)| (reference, actor.clone())).collect()
    }

    /// Changes some objects, ticks the server, and returns its packets.
    pub fn tick(&mut self) -> Vec<Vec<u8>> {
        let other = self.actors[self.ticks % self.actors.len()];
        change(&mut self.server[self.actors[0]], self.ticks, other);
        match self.ticks % 12 {
            5 => self.actors.push(self.server.spawn(Actor { score: 9, ..Actor::default() })),
            11 => self.server.despawn(self.actors.pop().expect("an actor")),
            _ => {}
        }
        self.ticks += 1;
        self.server.tick(self.now);
        self.now += TICK;
        let mut packets = Vec::new();
        while let Some(packet) = self.server.poll_transmit(self.connection) {
            packets.push(packet.to_vec());
        }
        while self.server.poll_event().is_some() {}
        packets.iter().for_each(|packet| self.token = token(packet).unwrap_or(self.token));
        packets
    }

    pub fn is_connected(&self) -> bool {
        self.server.connections().count() == 1
    }
}

/// Returns the token in a packet if the packet is a welcome.
fn token(packet: &[u8]) -> Option<u64> {
    let mut bits = BitReader::new(packet.get(4..)?);
    let is_welcome = bits.read_flag().ok()? && bits.read_bits(3).ok()? == 1;
    bits.skip_bits(32).ok()?;
    bits.read_bits(64).ok().filter(|_| is_welcome)
}

/// Runs an input. Returns whether the connection is still open at the end.
pub fn run(data: &[u8]) -> bool {
    let mut host = Host::new(1_200);
    for content in split(data) {
        host.hear(content);
        host.tick();
        if !host.is_connected() {
            return false;
        }
    }
    true
}
