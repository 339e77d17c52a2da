//! A server with an endpoint, and clients that reach it over the simulated network.
//!
//! *Invariant:* an address is a peer of the network. A packet that is sent to an address reaches the client
//! that has this address when the packet arrives, if there is one.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use repl::prelude::*;
use repl::sim::{LinkConditions, Network, PeerId};
use repl::{Channel, DisconnectReason, Endpoint, EndpointConfig};

pub(crate) const TICK: Duration = Duration::from_millis(16);

pub(crate) const SERVER: PeerId = PeerId(0);

/// An object that every client sees.
#[derive(Replicated, Default)]
#[replicated(all)]
pub(crate) struct Ship {
    pub(crate) hull: u64,
}

/// An object with references in all kinds of fields.
#[derive(Replicated, Default)]
#[replicated(all)]
pub(crate) struct Fleet {
    pub(crate) flagship: ObjectRef<Ship>,
    pub(crate) order: Vec<ObjectRef<Ship>>,
    pub(crate) captains: HashMap<u8, ObjectRef<Ship>>,
    #[replicated(atomic)]
    pub(crate) escorts: BTreeSet<ObjectRef<Ship>>,
    pub(crate) emblem: AssetRef<str>,
}

/// A message with a reference.
#[derive(NetSerialize, Clone, Debug, PartialEq)]
pub(crate) struct Hail(pub(crate) u32, pub(crate) ObjectRef<Ship>);

/// A message with references as keys.
#[derive(NetSerialize, Clone, Debug, PartialEq)]
pub(crate) struct Muster(pub(crate) BTreeSet<ObjectRef<Ship>>);

/// A message with a reference to an asset.
#[derive(NetSerialize, Clone, Debug, PartialEq)]
pub(crate) struct Banner(pub(crate) AssetRef<str>);

/// Returns a server with a ship.
fn serve(config: ServerConfig) -> (Server, ObjectRef<Ship>) {
    let mut server = Server::new(config);
    server
        .register_assets()
        .register::<Fleet>()
        .register_message::<Hail>(Channel::Ordered)
        .register_message::<Muster>(Channel::Ordered)
        .register_message::<Banner>(Channel::Ordered);
    let ship = server.spawn(Ship { hull: 1 });
    (server, ship)
}

pub(crate) struct Guest {
    pub(crate) client: Client,
    pub(crate) address: PeerId,
    /// The reason why the client's last session ended.
    pub(crate) end: Option<DisconnectReason>,
    /// The updates so far, without changes of properties.
    pub(crate) told: Vec<(ObjectRef<()>, UpdateKind)>,
    /// Whether a session that ended was followed by another one.
    reconnects: bool,
}

pub(crate) struct World {
    pub(crate) server: Server,
    pub(crate) endpoint: Endpoint<PeerId>,
    pub(crate) network: Network,
    pub(crate) guests: Vec<Guest>,
    pub(crate) now: Duration,
    pub(crate) ship: ObjectRef<Ship>,
    /// The server's events so far.
    pub(crate) events: Vec<ServerEvent>,
    /// The packets that clients have sent so far, with their addresses.
    pub(crate) recorded: Vec<(PeerId, Vec<u8>)>,
    conditions: LinkConditions,
}

impl World {
    pub(crate) fn new(seed: u64, conditions: LinkConditions) -> Self {
        Self::with(seed, conditions, ServerConfig::default(), EndpointConfig::default())
    }

    pub(crate) fn with(
        seed: u64,
        conditions: LinkConditions,
        server: ServerConfig,
        endpoint: EndpointConfig,
    ) -> Self {
        let (server, ship) = serve(server);
        Self {
            server,
            endpoint: Endpoint::new(endpoint, u128::from(seed) << 70 | 0x1234_5678),
            network: Network::new(seed),
            guests: Vec::new(),
            now: Duration::from_secs(100),
            ship,
            events: Vec::new(),
            recorded: Vec::new(),
            conditions,
        }
    }

    /// Adds a client at an address. Returns its number.
    pub(crate) fn enter(&mut self, address: u32, session: u64) -> usize {
        self.enter_with(address, session, ClientConfig { reconnects: false, ..ClientConfig::default() })
    }

    pub(crate) fn enter_with(&mut self, address: u32, session: u64, config: ClientConfig) -> usize {
        let reconnects = config.reconnects;
        let mut client = Client::new(config, Session::for_tests(session));
        client
            .register_assets()
            .register::<Ship>()
            .register::<Fleet>()
            .register_message::<Hail>(Channel::Ordered)
            .register_message::<Muster>(Channel::Ordered)
            .register_message::<Banner>(Channel::Ordered);
        self.guests.push(Guest { client, address: PeerId(address), end: None, told: Vec::new(), reconnects });
        self.network.connect(SERVER, PeerId(address), self.conditions);
        self.guests.len() - 1
    }

    /// Replaces the server by a new one, as a restart of its process does.
    pub(crate) fn restart(&mut self, secret: u128) {
        (self.server, self.ship) = serve(ServerConfig::default());
        self.endpoint = Endpoint::new(EndpointConfig::default(), secret);
    }

    /// Gives a client another address.
    pub(crate) fn rebind(&mut self, guest: usize, address: u32) {
        self.guests[guest].address = PeerId(address);
        self.network.connect(SERVER, PeerId(address), self.conditions);
    }

    /// Runs one tick of everyone.
    pub(crate) fn step(&mut self) {
        self.now += TICK;
        let now = self.now;
        for guest in &mut self.guests {
            guest.client.tick(now);
        }
        self.send_of_guests();
        self.server[self.ship].hull += 1;
        self.server.tick(now);
        self.send_of_server();
        self.deliver();
        self.send_of_guests();
        self.send_of_server();
    }

    fn send_of_guests(&mut self) {
        for guest in &mut self.guests {
            while let Some(packet) = guest.client.poll_transmit() {
                self.network.send(self.now, guest.address, SERVER, packet);
                self.recorded.push((guest.address, packet.to_vec()));
            }
        }
    }

    pub(crate) fn send_of_server(&mut self) {
        while let Some((to, packet)) = self.endpoint.poll_transmit(&mut self.server) {
            self.network.send(self.now, SERVER, to, packet);
        }
    }

    fn deliver(&mut self) {
        while let Some(delivery) = self.network.deliver(self.now) {
            if delivery.to == SERVER {
                self.endpoint.receive(&mut self.server, self.now, delivery.from, delivery.bytes);
                continue;
            }
            for guest in self.guests.iter_mut().filter(|guest| guest.address == delivery.to) {
                guest.client.receive(self.now, delivery.bytes).ok();
            }
        }
        self.events.extend(std::iter::from_fn(|| self.server.poll_event()));
        for guest in &mut self.guests {
            while let Some(event) = guest.client.poll_event() {
                if let ClientEvent::Disconnected(reason) = event {
                    assert!(guest.reconnects || guest.end.is_none(), "a session ends once");
                    guest.end = Some(reason);
                }
            }
            while let Some(update) = guest.client.poll_update() {
                if update.what != UpdateKind::Changed {
                    guest.told.push((update.object, update.what));
                }
            }
        }
    }

    pub(crate) fn run(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.step();
        }
    }

    /// Runs until `is_done` returns true. Returns how long the run took.
    ///
    /// # Panics
    /// Panics if the run takes more than a minute.
    pub(crate) fn run_until(&mut self, mut is_done: impl FnMut(&Self) -> bool) -> Duration {
        let start = self.now;
        while !is_done(self) {
            assert!(self.now - start < Duration::from_secs(60), "nothing happens");
            self.step();
        }
        self.now - start
    }

    /// Returns whether a client is connected and has the ship.
    pub(crate) fn sees(&self, guest: usize) -> bool {
        let client = &self.guests[guest].client;
        client.is_connected() && client.get(self.ship).is_some()
    }

    /// Returns whether a client has a value of the ship from the last second.
    pub(crate) fn is_current(&self, guest: usize) -> bool {
        let client = &self.guests[guest].client;
        client.is_connected()
            && client.get(self.ship).is_some_and(|ship| ship.hull + 62 > self.server[self.ship].hull)
    }

    /// Returns whether a client has a value of the ship from the last two round trips. If more than 1,024
    /// packets are sent in a round trip, the server waits for acks in between (R6).
    pub(crate) fn is_current_after(&self, guest: usize, round_trip: Duration) -> bool {
        let ticks = (round_trip.as_millis() * 2 / TICK.as_millis()) as u64 + 8;
        let client = &self.guests[guest].client;
        client.is_connected()
            && client.get(self.ship).is_some_and(|ship| ship.hull + ticks > self.server[self.ship].hull)
    }

    /// Returns the connections that began, in the order of their beginnings.
    pub(crate) fn connected(&self) -> Vec<ConnectionId> {
        let of = |event: &ServerEvent| match event {
            ServerEvent::Connected(id) => Some(*id),
            _ => None,
        };
        self.events.iter().filter_map(of).collect()
    }

    /// Returns the connections that ended, in the order of their ends, and the reasons.
    pub(crate) fn disconnected(&self) -> Vec<(ConnectionId, DisconnectReason)> {
        let of = |event: &ServerEvent| match event {
            ServerEvent::Disconnected(id, reason) => Some((*id, reason.clone())),
            _ => None,
        };
        self.events.iter().filter_map(of).collect()
    }
}

/// Returns the first packet of a client.
pub(crate) fn hello(session: u64) -> Vec<u8> {
    let mut client = Client::new(ClientConfig::default(), Session::for_tests(session));
    client
        .register::<Ship>()
        .register::<Fleet>()
        .register_message::<Hail>(Channel::Ordered)
        .register_message::<Muster>(Channel::Ordered);
    client.tick(Duration::ZERO);
    client.poll_transmit().expect("a hello").to_vec()
}
