//! A fuzzer of the client: the input is a list of a server's packets, from the handshake on.
//!
//! *Invariant:* a client that refuses a packet keeps all its values.

use std::time::Duration;

use repl::prelude::*;

use super::classes::{Actor, Pebble, register};
use super::forge::seal;
use super::packets::{SESSION, split};

const TICK: Duration = Duration::from_millis(16);

/// A client that receives one packet in each tick.
pub struct Guest {
    client: Client,
    now: Duration,
}

impl Default for Guest {
    fn default() -> Self {
        let config = ClientConfig {
            max_objects: 64,
            max_object_bytes: 8_192,
            measure: true,
            ..ClientConfig::default()
        };
        let mut client = Client::new(config, SESSION);
        register(&mut client);
        Self { client, now: Duration::ZERO }
    }
}

/// All objects of a client.
type Shown = (Vec<(ObjectRef<Actor>, Actor)>, Vec<(ObjectRef<Pebble>, Pebble)>);

impl Guest {
    /// Ticks the client, and returns the packets that it sends.
    pub fn tick(&mut self) -> Vec<Vec<u8>> {
        self.client.tick(self.now);
        self.now += TICK;
        let mut packets = Vec::new();
        while let Some(packet) = self.client.poll_transmit() {
            packets.push(packet.to_vec());
        }
        while self.client.poll_event().is_some() {}
        packets
    }

    /// Passes a packet with this content to the client. Returns whether the client accepted it.
    pub fn hear(&mut self, content: &[u8]) -> bool {
        let before = self.shown();
        let result = self.client.receive(self.now, &seal(content, SESSION));
        if result.is_err() {
            assert_eq!(self.shown(), before, "{result:?} changed something");
        }
        result.is_ok()
    }

    pub fn is_connected(&self) -> bool {
        self.client.is_connected()
    }

    pub fn shown(&self) -> Shown {
        let actors = self.client.objects::<Actor>().map(|(reference, actor)| (reference, actor.clone()));
        let pebbles = self.client.objects::<Pebble>().map(|(reference, pebble)| (reference, pebble.clone()));
        (actors.collect(), pebbles.collect())
    }
}

/// Runs an input. Returns the client, the number of packets that it accepted, and the number of all packets.
pub fn run(data: &[u8]) -> (Guest, usize, usize) {
    let mut guest = Guest::default();
    guest.tick();
    let packets = split(data);
    let mut accepted = 0;
    for content in &packets {
        accepted += usize::from(guest.hear(content));
        guest.tick();
    }
    (guest, accepted, packets.len())
}
