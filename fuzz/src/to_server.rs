//! A fuzzer of the server: the input is a list of a client's packets, from the handshake on. The server has a
//! few objects.
//!
//! *Invariant:* a packet of a client changes the server's objects only if it contains a call that may run.

use std::time::Duration;

use repl::CongestionControl;
use repl::prelude::*;

use super::classes::{Actor, Bird, Pebble, change, change_birds, change_statics, spawn_birds};
use super::forge::seal;
use super::packets::{SESSION, has_token, split, token};
use super::talk::{self, Heard, Hero};

const TICK: Duration = Duration::from_millis(16);

/// The values of all objects of a server.
type State = (Vec<(ObjectRef<Actor>, Actor)>, Vec<(ObjectRef<Hero>, Hero)>);

/// A server that receives one packet of its only client in each tick, and also changes its objects in each
/// tick. The client owns one of the heroes.
pub struct Host {
    server: Server,
    connection: ConnectionId,
    actors: Vec<ObjectRef<Actor>>,
    heroes: Vec<ObjectRef<Hero>>,
    birds: Vec<ObjectRef<Bird>>,
    /// The messages and calls that arrived.
    pub heard: Heard,
    now: Duration,
    ticks: usize,
    /// The token (a secret of the session) with which the client's packets are sealed after the welcome.
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
        talk::register(&mut server);
        let birds = spawn_birds(&mut server);
        let heroes: Vec<_> = (0..2).map(|_| server.spawn(Hero::default())).collect();
        let connection = server.connect(Duration::ZERO);
        server.object(heroes[0]).set_owner(Some(connection));
        Self {
            server,
            connection,
            actors,
            heroes,
            birds,
            heard: Heard::default(),
            now: Duration::ZERO,
            ticks: 0,
            token: 0,
        }
    }

    /// Passes a packet with this content to the server, as a packet of its client.
    pub fn hear(&mut self, content: &[u8]) {
        let before = self.state();
        let session = if has_token(content) { SESSION ^ self.token } else { SESSION };
        self.server.receive(self.connection, self.now, &seal(content, session));
        assert_eq!(self.state(), before, "a client changed something");
        let senders = self.heard.poll_server(&mut self.server);
        while let Some(event) = self.server.poll_event() {
            if let ServerEvent::Disconnected(_, DisconnectReason::Protocol(why)) = event {
                assert!(senders.is_empty(), "a refused packet brought a message: {why}");
            }
        }
    }

    fn state(&self) -> State {
        let actors = self.server.objects::<Actor>().map(|(reference, actor)| (reference, actor.clone()));
        (actors.collect(), talk::heroes(&self.server))
    }

    /// Returns how many calls have run on the server.
    pub fn runs(&self) -> u32 {
        talk::heroes(&self.server).iter().map(|(_, hero)| hero.runs).sum()
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
        change_statics(&mut self.server, self.connection, self.ticks);
        change_birds(&mut self.server, self.connection, &self.birds, self.ticks);
        talk::say_to_client(&mut self.server, self.connection, &self.heroes, self.ticks);
        self.ticks += 1;
        let before = talk::heroes(&self.server);
        self.server.tick(self.now);
        talk::assert_changed_by_calls(&before, &self.server);
        while self.server.poll_call::<Hero>().is_some() {
            self.heard.polled += 1;
        }
        self.now += TICK;
        let mut packets = Vec::new();
        while let Some(packet) = self.server.poll_transmit(self.connection) {
            packets.push(packet.to_vec());
        }
        while self.server.poll_event().is_some() {}
        packets.iter().for_each(|packet| self.token = token(&packet[4..]).unwrap_or(self.token));
        packets
    }

    pub fn is_connected(&self) -> bool {
        self.server.connections().count() == 1
    }
}

/// Runs an input, until the connection ends. Returns the server.
pub fn run(data: &[u8]) -> Host {
    let mut host = Host::new(1_200);
    for content in split(data) {
        host.hear(content);
        host.tick();
        if !host.is_connected() {
            break;
        }
    }
    host
}
