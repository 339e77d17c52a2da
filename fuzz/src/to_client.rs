//! A fuzzer of the client: the input is a list of a server's packets, from the handshake on.
//!
//! *Invariant:* a client that refuses a packet keeps all its values, and its user receives no message and no
//! call from the packet. A client that walks over the commands of each update (one command for each value)
//! shows the same values as a client that copies most values. The polled updates say exactly which objects a
//! client has.

use std::collections::BTreeSet;
use std::time::Duration;

use repl::prelude::*;

use super::classes::{Actor, Bird, PATHS, Pebble, register};
use super::forge::seal;
use super::packets::{self, SESSION, has_token, split};
use super::talk::{self, Heard, Hero};

const TICK: Duration = Duration::from_millis(16);

/// A client that receives one packet in each tick, and sends messages and calls.
pub struct Guest {
    client: Client,
    now: Duration,
    ticks: usize,
    /// The token of the first welcome (the server's answer to the hello), or zero before it.
    token: u64,
    walks: bool,
    /// The objects that exist according to the polled updates.
    told: BTreeSet<ObjectRef<()>>,
    /// The messages and calls that arrived.
    pub heard: Heard,
}

impl Guest {
    /// Returns a client that copies most values, or a client that walks over the commands of each update and
    /// measures it.
    pub fn new(walks: bool) -> Self {
        let config = ClientConfig {
            max_objects: 64,
            max_object_bytes: 8_192,
            measure: walks,
            ..ClientConfig::default()
        };
        let mut client = Client::new(config, Session::for_tests(SESSION));
        if walks {
            client.walk_only();
        }
        register(&mut client);
        talk::register(&mut client);
        Self {
            client,
            now: Duration::ZERO,
            ticks: 0,
            token: 0,
            walks,
            told: BTreeSet::new(),
            heard: Heard::default(),
        }
    }
}

/// The values of all objects of a client.
type Shown = (
    Vec<(ObjectRef<Actor>, Actor)>,
    Vec<(ObjectRef<Pebble>, Pebble)>,
    Vec<(ObjectRef<Hero>, Hero)>,
    Vec<(ObjectRef<Bird>, Bird)>,
    Option<Pebble>,
);

impl Guest {
    /// Ticks the client, and returns the packets that it sends.
    pub fn tick(&mut self) -> Vec<Vec<u8>> {
        let own = self
            .client
            .objects::<Hero>()
            .map(|(hero, _)| hero)
            .find(|&hero| self.client.object_info(hero).is_owner());
        if let Some(hero) = own {
            talk::say_to_server(&mut self.client, hero, self.ticks);
        }
        self.ticks += 1;
        self.client.tick(self.now);
        self.now += TICK;
        self.heard.poll(&mut self.client);
        while self.client.poll_call::<Hero>().is_some() {
            self.heard.polled += 1;
        }
        let mut packets = Vec::new();
        while let Some(packet) = self.client.poll_transmit() {
            packets.push(packet.to_vec());
        }
        while self.client.poll_event().is_some() {}
        // The client that walks never polls updates, so it records none.
        if !self.walks {
            self.follow();
        }
        packets
    }

    /// Polls the updates, and checks that the client has exactly the objects that the updates have reported.
    fn follow(&mut self) {
        while let Some(update) = self.client.poll_update() {
            let (object, is_known) = (update.object, self.told.contains(&update.object));
            match update.what {
                UpdateKind::Spawned | UpdateKind::Bound(_) => assert!(self.told.insert(object)),
                UpdateKind::Despawned(_) | UpdateKind::Unbound(_) => assert!(self.told.remove(&object)),
                UpdateKind::PathDestroyed(_) => {}
                UpdateKind::Changed => assert!(is_known && update.properties().iter().next().is_some()),
                _ => assert!(is_known),
            }
        }
        let (actors, pebbles, heroes, birds, _) = self.shown();
        let actors = actors.iter().map(|(object, _)| object.erase());
        let pebbles = pebbles.iter().map(|(object, _)| object.erase());
        let heroes = heroes.iter().map(|(object, _)| object.erase());
        let birds = birds.iter().map(|(object, _)| object.erase());
        let there: BTreeSet<_> = actors.chain(pebbles).chain(heroes).chain(birds).collect();
        assert_eq!(there, self.told);
    }

    /// Passes a packet with this content to the client. Returns whether the client accepted it.
    pub fn hear(&mut self, content: &[u8]) -> bool {
        let before = self.shown();
        // Packets of state are also sealed with the number of the server. Their first bit is zero.
        let is_state = content.first().is_some_and(|first| first & 1 == 0);
        let instance = self.client.connection_info().server_instance().filter(|_| is_state).unwrap_or(0);
        let token = if has_token(content) { self.token } else { 0 };
        let was_connected = self.client.is_connected();
        let result = self.client.receive(self.now, &seal(content, SESSION ^ token ^ instance));
        if self.client.is_connected() && !was_connected {
            self.token = packets::token(content).unwrap_or(0);
        }
        if result.is_err() {
            assert_eq!(self.shown(), before, "{result:?} changed something");
            let has_message = self.heard.poll(&mut self.client);
            let has_call = self.client.poll_call::<Hero>().is_some();
            assert!(!has_message && !has_call, "{result:?} brought something");
        }
        result.is_ok()
    }

    /// Returns how many calls have run on the client.
    pub fn runs(&self) -> u32 {
        talk::runs(&self.client)
    }

    pub fn is_connected(&self) -> bool {
        self.client.is_connected()
    }

    pub fn shown(&self) -> Shown {
        let actors = self.client.objects::<Actor>().map(|(reference, actor)| (reference, actor.clone()));
        let pebbles = self.client.objects::<Pebble>().map(|(reference, pebble)| (reference, pebble.clone()));
        let heroes = self.client.objects::<Hero>().map(|(reference, hero)| (reference, hero.clone()));
        let birds = self.client.objects::<Bird>().map(|(reference, bird)| (reference, bird.clone()));
        (
            actors.collect(),
            pebbles.collect(),
            heroes.collect(),
            birds.collect(),
            self.client.placed(PATHS[0]).cloned(),
        )
    }
}

/// Runs an input on two clients: one walks over the commands of each update and measures it, the other copies
/// most values. Returns the client that copies, how many packets it accepted, and how many packets the input
/// has.
pub fn run(data: &[u8]) -> (Guest, usize, usize) {
    let (mut guest, mut walking) = (Guest::new(false), Guest::new(true));
    guest.tick();
    walking.tick();
    let packets = split(data);
    let mut accepted = 0;
    for content in &packets {
        let is_accepted = guest.hear(content);
        assert_eq!(is_accepted, walking.hear(content));
        accepted += usize::from(is_accepted);
        guest.tick();
        walking.tick();
    }
    assert_eq!(guest.shown(), walking.shown());
    (guest, accepted, packets.len())
}
