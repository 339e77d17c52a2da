//! A server and its clients in one room, without a network between them. The test controls each packet.
//!
//! *Invariant:* nothing happens by itself. Time passes only in [`Room::step`] and [`Room::wait`].
#![allow(dead_code, reason = "each test file uses a part")]

use std::cell::Cell;
use std::time::Duration;

use repl::prelude::*;
use repl::{CongestionControl, DisconnectReason, PropertyIndex, UpdateKind, WriteError};

/// One step of a room: a tick of 60 Hz, rounded.
pub(crate) const TICK: Duration = Duration::from_millis(16);

/// The size in bytes of the largest packet that contains neither acks nor state.
pub(crate) const SIGN_OF_LIFE_BYTES: usize = 12;

/// Packets in the order in which they were made.
pub(crate) type Packets = Vec<Vec<u8>>;

/// A client and its connection on the server.
pub(crate) struct Guest {
    pub(crate) client: Client,
    pub(crate) id: ConnectionId,
}

thread_local! {
    /// Whether the clients of new rooms measure what they receive.
    static MEASURING: Cell<bool> = const { Cell::new(false) };
}

/// A server, its clients and their clock.
pub(crate) struct Room {
    pub(crate) server: Server,
    pub(crate) guests: Vec<Guest>,
    pub(crate) now: Duration,
    /// Registers the classes at each client that enters.
    register: fn(&mut Client),
    /// Whether the clients that enter measure what they receive.
    measures: bool,
}

impl Room {
    /// Creates a room. `register` is called for each client. The test registers the same classes on the
    /// server before the first guest enters.
    pub(crate) fn new(config: ServerConfig, register: fn(&mut Client)) -> Self {
        // By default nothing limits the packets. A test sets the limits that it needs.
        Self::paced(ServerConfig { congestion_control: CongestionControl::Off, ..config }, register)
    }

    /// Creates a room as [`new`](Self::new) does, but the congestion control is the one in `config`.
    pub(crate) fn paced(config: ServerConfig, register: fn(&mut Client)) -> Self {
        let measures = MEASURING.get();
        Self { server: Server::new(config), guests: Vec::new(), now: Duration::ZERO, register, measures }
    }

    /// Returns what `make` makes: a room whose clients measure what they receive, as
    /// [`received`](Self::received) requires.
    pub(crate) fn measuring<T>(make: impl FnOnce() -> T) -> T {
        MEASURING.set(true);
        let made = make();
        MEASURING.set(false);
        made
    }

    /// Returns the property and the error of each refused value, and drops the other events of the server.
    pub(crate) fn refused(&mut self) -> Vec<(&'static str, WriteError)> {
        std::iter::from_fn(|| self.server.poll_event())
            .filter_map(|event| match event {
                ServerEvent::ValueRefused { property, error, .. } => Some((property, error)),
                _ => None,
            })
            .collect()
    }

    /// Adds a client that is not connected yet. Returns the id of its connection.
    pub(crate) fn enter(&mut self) -> ConnectionId {
        let id = self.server.connect(self.now);
        self.admit(id)
    }

    /// Adds a client that records a replay, and that is not connected yet. Returns the id of its connection.
    pub(crate) fn enter_replay(&mut self) -> ConnectionId {
        let id = self.server.connect_replay(self.now);
        self.admit(id)
    }

    fn admit(&mut self, id: ConnectionId) -> ConnectionId {
        let config = ClientConfig { measure: self.measures, ..ClientConfig::default() };
        let mut client = Client::new(config, Session::for_tests(1_000 + id.index() as u64));
        (self.register)(&mut client);
        // From the first poll on, the client records what happens to its objects.
        assert!(client.poll_update().is_none(), "a client begins without objects");
        self.guests.push(Guest { client, id });
        id
    }

    /// Returns the updates of a guest that were not polled yet: the objects, and what happened to them.
    pub(crate) fn polled(&mut self, guest: usize) -> Vec<(ObjectRef<()>, UpdateKind)> {
        let updates = std::iter::from_fn(|| self.guests[guest].client.poll_update());
        updates.map(|update| (update.object, update.what)).collect()
    }

    /// Returns a room with this many clients. Each client has received everything that `furnish` spawned.
    pub(crate) fn furnished<T>(
        config: ServerConfig,
        register: fn(&mut Client),
        guests: usize,
        furnish: impl FnOnce(&mut Server) -> T,
    ) -> (Self, T) {
        let mut room = Self::new(config, register);
        let furniture = furnish(&mut room.server);
        for _ in 0..guests {
            room.enter();
        }
        room.settle();
        (room, furniture)
    }

    pub(crate) fn client(&self) -> &Client {
        &self.guests[0].client
    }

    /// Lets time pass without any tick.
    pub(crate) fn wait(&mut self, time: Duration) {
        self.now += time;
    }

    /// Ticks the server and lets time pass. Returns the packets of this tick, one list for each guest.
    pub(crate) fn tick(&mut self) -> Vec<Packets> {
        self.server.tick(self.now);
        let packets = self.guests.iter().map(|guest| collect(&mut self.server, guest.id)).collect();
        self.now += TICK;
        packets
    }

    /// Runs a tick in a room with one guest, and returns the packets to this guest.
    pub(crate) fn tick_one(&mut self) -> Packets {
        self.tick().swap_remove(0)
    }

    /// Gives packets to a guest, which must accept each.
    pub(crate) fn deliver(&mut self, guest: usize, packets: &[Vec<u8>]) {
        for packet in packets {
            self.guests[guest].client.receive(self.now, packet).expect("a packet of the server");
        }
    }

    /// Ticks a guest and returns its packets.
    pub(crate) fn replies(&mut self, guest: usize) -> Packets {
        let client = &mut self.guests[guest].client;
        client.tick(self.now);
        let mut packets = Packets::new();
        while let Some(packet) = client.poll_transmit() {
            packets.push(packet.to_vec());
        }
        packets
    }

    /// Gives the server the packets of a guest.
    pub(crate) fn hear(&mut self, guest: usize, packets: &[Vec<u8>]) {
        let id = self.guests[guest].id;
        packets.iter().for_each(|packet| self.server.receive(id, self.now, packet));
    }

    /// Ticks all guests and gives the server their packets.
    pub(crate) fn acknowledge(&mut self) {
        for guest in 0..self.guests.len() {
            let packets = self.replies(guest);
            self.hear(guest, &packets);
        }
    }

    /// Runs one tick of everyone on a perfect link. Returns how many bytes of state and acks were sent.
    pub(crate) fn step(&mut self) -> usize {
        let mut bytes = 0;
        for guest in 0..self.guests.len() {
            let packets = self.replies(guest);
            bytes += size(&packets);
            self.hear(guest, &packets);
        }
        for (guest, packets) in self.tick().into_iter().enumerate() {
            bytes += size(&packets);
            self.deliver(guest, &packets);
        }
        bytes
    }

    /// Steps until in five steps in a row only keep-alive packets are sent, and no packet is in flight.
    ///
    /// # Panics
    /// Panics after 2,000 steps, or if a guest is not connected.
    pub(crate) fn settle(&mut self) {
        let mut quiet = 0;
        for _ in 0..2_000 {
            let signs_of_life = SIGN_OF_LIFE_BYTES * 2 * self.guests.len();
            let is_quiet = self.step() <= signs_of_life
                && (0..self.guests.len()).all(|guest| self.in_flight(guest) == 0);
            quiet = if is_quiet { quiet + 1 } else { 0 };
            if quiet == 5 {
                let connected = self.guests.iter().all(|guest| guest.client.is_connected());
                assert!(
                    connected,
                    "a guest is not connected: are the classes and messages those of the server?"
                );
                return;
            }
        }
        panic!("the room does not come to rest");
    }

    /// Ticks until the server counts another packet to a guest as lost. All packets of these ticks are lost.
    pub(crate) fn lose_until_noticed(&mut self, guest: usize) {
        let lost = |room: &Self| {
            room.server.connection_info(room.guests[guest].id).stats().map_or(0, |stats| stats.packets_lost)
        };
        let before = lost(self);
        while lost(self) == before {
            self.tick();
        }
    }

    /// Returns how many packets to a guest are neither acked nor declared lost.
    pub(crate) fn in_flight(&self, guest: usize) -> usize {
        self.server.connection_info(self.guests[guest].id).stats().map_or(0, |stats| stats.packets_in_flight)
    }

    /// Returns how often a guest has received a property of a class, and in how many bits.
    ///
    /// # Panics
    /// Panics if the room was not made by [`measuring`](Self::measuring).
    pub(crate) fn received<T: Replicated>(&self, guest: usize, path: &str) -> (u64, u64) {
        assert!(self.measures, "the clients of this room do not measure");
        let classes = self.guests[guest].client.connection_info().traffic();
        let class = classes.iter().find(|class| class.class == T::LAYOUT.name()).expect("the class is known");
        let property = class.properties.iter().find(|property| property.path == path);
        let property = property.unwrap_or_else(|| panic!("`{}` has no `{path}`", class.class));
        (property.updates, property.bits)
    }

    /// Returns how often a guest has received a property of a class.
    pub(crate) fn updates<T: Replicated>(&self, guest: usize, path: &str) -> u64 {
        self.received::<T>(guest, path).0
    }

    /// Returns why the server closed a guest's connection, if it did.
    pub(crate) fn closed(&mut self, guest: usize) -> Option<DisconnectReason> {
        let id = self.guests[guest].id;
        let mut found = None;
        while let Some(event) = self.server.poll_event() {
            match event {
                ServerEvent::Disconnected(closed, reason) if closed == id => found = Some(reason),
                _ => {}
            }
        }
        found
    }
}

pub(crate) fn property<T: Replicated>(name: &str) -> PropertyIndex<T> {
    T::LAYOUT.property(name)
}

/// Returns all packets that the server has for a connection.
pub(crate) fn collect(server: &mut Server, id: ConnectionId) -> Packets {
    let mut packets = Packets::new();
    while let Some(packet) = server.poll_transmit(id) {
        packets.push(packet.to_vec());
    }
    packets
}

pub(crate) fn size(packets: &[Vec<u8>]) -> usize {
    packets.iter().map(Vec::len).sum()
}

/// Returns whether `secret` occurs in `bytes`, at any of the eight bit shifts.
pub(crate) fn leaks(bytes: &[u8], secret: &[u8]) -> bool {
    let bytes: Vec<u8> = bytes.iter().copied().chain([0]).collect();
    (0..8).any(|shift| {
        let shifted: Vec<u8> = bytes
            .windows(2)
            .map(|pair| (u16::from_be_bytes([pair[0], pair[1]]) << shift >> 8) as u8)
            .collect();
        let reversed: Vec<u8> =
            bytes.windows(2).map(|pair| (u16::from_le_bytes([pair[0], pair[1]]) >> shift) as u8).collect();
        [shifted, reversed].iter().any(|view| view.windows(secret.len()).any(|window| window == secret))
    })
}
