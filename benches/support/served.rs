//! The candidate of this library: a server, its connections, and one client that answers for all of them.
//!
//! Connections that see the same objects receive the same packets, so the acks of one client are right for
//! all connections. The benches assert that the bytes are the same, and that the client equals the server. To
//! decode each packet 32 times would only make the bench slower.
//!
//! *Invariant:* the packets of a tick are acknowledged before the next tick.

use std::fmt::Debug;
use std::hint::black_box;
use std::time::{Duration, Instant};

use repl::{Client, ClientConfig, ConnectionId, ObjectRef, Replicated, Server, ServerConfig, Session};

use crate::config::at_once;
use crate::player::{MarkedPlayer, Player};
use crate::workload::{Arena, Workload};

/// The time between two ticks.
const TICK: Duration = Duration::from_millis(16);
/// A timeout that is longer than any measurement, so an idle world sends no keep-alive packets.
const FOREVER: Duration = Duration::from_secs(1 << 32);

/// The greatest number of objects on the server and on the client.
const MOST_OBJECTS: usize = 1 << 20;

/// The packets of a tick, one after another in one buffer.
#[derive(Default)]
struct Packets {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Packets {
    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    fn push(&mut self, packet: &[u8]) {
        self.bytes.extend_from_slice(packet);
        self.ends.push(self.bytes.len());
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(start, end)| &self.bytes[*start..*end])
    }
}

/// The two ways in which a user writes the changes of a tick.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Writing {
    /// `server[player].health = …`, or `server.edit(player).health(…)`: each marks one object.
    ByReference,
    /// `for (_, player) in server.objects_mut()`: all objects are scanned.
    AllAtOnce,
}

/// A kind of player.
pub(crate) trait Avatar: Replicated + PartialEq + Debug {
    /// Returns the player that slot `index` has at the start.
    fn nth(index: u32) -> Self;
    fn set_health(&mut self, health: u16);
    fn turn(&mut self, position: [f32; 3], yaw: f32);
    /// Writes the health of a player of a server.
    fn set_health_of(server: &mut Server, player: ObjectRef<Self>, health: u16);
    /// Writes the position and the yaw of a player of a server.
    fn turn_of(server: &mut Server, player: ObjectRef<Self>, position: [f32; 3], yaw: f32);
}

/// Implements `Avatar` for a class. The caller supplies the functions that write to a player of a server.
macro_rules! avatar {
    ($name:ident, $($of_server:item)+) => {
        impl Avatar for $name {
            fn nth(index: u32) -> Self {
                Self::nth(index)
            }

            #[inline]
            fn set_health(&mut self, health: u16) {
                self.health = health;
            }

            #[inline]
            fn turn(&mut self, position: [f32; 3], yaw: f32) {
                (self.position, self.yaw) = (position, yaw);
            }

            $($of_server)+
        }
    };
}

avatar! {
    Player,
    #[inline]
    fn set_health_of(server: &mut Server, player: ObjectRef<Self>, health: u16) {
        server[player].set_health(health);
    }
    #[inline]
    fn turn_of(server: &mut Server, player: ObjectRef<Self>, position: [f32; 3], yaw: f32) {
        server[player].turn(position, yaw);
    }
}

avatar! {
    MarkedPlayer,
    #[inline]
    fn set_health_of(server: &mut Server, player: ObjectRef<Self>, health: u16) {
        server.edit(player).health(health);
    }
    #[inline]
    fn turn_of(server: &mut Server, player: ObjectRef<Self>, position: [f32; 3], yaw: f32) {
        server.edit(player).position(position).yaw(yaw);
    }
}

/// A server of players.
pub(crate) struct Served<P = Player> {
    server: Server,
    players: Vec<ObjectRef<P>>,
    connections: Vec<ConnectionId>,
    client: Client,
    writing: Writing,
    now: Duration,
    /// Packets of the first connection that are not delivered to the client yet.
    sent: Packets,
    /// The client's answers that are not delivered to the server yet.
    answers: Packets,
}

impl<P: Avatar> Served<P> {
    /// Returns a server with clients that have every player.
    ///
    /// # Panics
    /// Panics if the clients do not receive the players.
    pub(crate) fn settled(players: u32, connections: usize, writing: Writing) -> Self {
        let mut server =
            Server::new(ServerConfig { timeout: FOREVER, max_objects: MOST_OBJECTS, ..at_once() });
        let players = (0..players).map(|index| server.spawn(<P as Avatar>::nth(index))).collect();
        let connections = (0..connections).map(|_| server.connect(Duration::ZERO)).collect();
        let client = new_client::<P>(FOREVER);
        let (sent, answers) = (Packets::default(), Packets::default());
        let mut served = Self { server, players, connections, client, writing, now: TICK, sent, answers };
        served.deliver();
        served.acknowledge();
        // The first packet of each connection begins with a different number, so the connections are not
        // compared here.
        served.transmit(|_, _| {});
        served.deliver();
        served.acknowledge();
        while served.exchange() > 0 {}
        served.check();
        served
    }

    /// Writes the changes of tick `step` and makes all packets. Returns their bytes.
    ///
    /// # Panics
    /// Panics if the connections do not receive the same number of bytes.
    pub(crate) fn send(&mut self, workload: &Workload, step: u32) -> u64 {
        self.write(workload, step);
        let bytes = self.transmit(|_, _| {});
        assert_eq!(bytes, self.sent.bytes.len() as u64 * self.connections.len() as u64);
        bytes
    }

    #[inline]
    fn write(&mut self, workload: &Workload, step: u32) {
        match self.writing {
            Writing::ByReference => workload.apply(step, &mut ByReference(&mut self.server, &self.players)),
            Writing::AllAtOnce => {
                workload.apply(step, &mut AllAtOnce { players: self.server.objects_mut::<P>(), next: 0 });
            }
        }
    }

    /// Makes the packets of a tick and stores the packets of the first connection. Passes the packets of the
    /// other connections to `others`, with the position of the connection in the list.
    fn transmit(&mut self, mut others: impl FnMut(usize, &[u8])) -> u64 {
        let Self { server, connections, sent, .. } = self;
        self.now += TICK;
        server.tick(self.now);
        let mut bytes = 0;
        for (at, connection) in connections.iter().enumerate() {
            let mut place = 0;
            while let Some(packet) = server.poll_transmit(*connection) {
                let packet = black_box(packet);
                bytes += packet.len() as u64;
                if at == 0 {
                    sent.push(packet)
                } else {
                    others(place, packet)
                }
                place += 1;
            }
        }
        bytes
    }

    /// Delivers its packets to the client, and stores the client's answers.
    pub(crate) fn deliver(&mut self) {
        take_and_answer(&mut self.client, self.now, &mut self.sent, &mut self.answers);
    }

    /// Receives the acknowledgements of all packets of this tick.
    pub(crate) fn acknowledge(&mut self) {
        for connection in &self.connections {
            for answer in self.answers.iter() {
                self.server.receive(*connection, self.now, answer);
            }
        }
        self.answers.clear();
    }

    /// Runs a tick in which nothing is written. Compares every packet, and returns the number of bytes.
    fn exchange(&mut self) -> u64 {
        let mut rest = Vec::new();
        let bytes = self.transmit(|place, packet| rest.push((place, packet.to_vec())));
        let first: Vec<&[u8]> = self.sent.iter().collect();
        assert!(
            rest.iter().all(|(place, packet)| first[*place] == packet),
            "connections are sent other bytes"
        );
        assert_eq!(
            rest.len(),
            first.len() * (self.connections.len() - 1),
            "connections are sent more or less"
        );
        self.deliver();
        self.acknowledge();
        bytes
    }

    /// Compares every packet of one tick of the workload, and then the client.
    ///
    /// # Panics
    /// Panics if the connections do not receive the same bytes, or the client does not equal the server.
    pub(crate) fn check_tick(&mut self, workload: &Workload, step: u32) {
        self.write(workload, step);
        self.exchange();
        self.check();
    }

    /// Checks whether the client equals the server.
    ///
    /// # Panics
    /// Panics if this check fails.
    pub(crate) fn check(&self) {
        assert_same(&self.server, &self.players, &self.client);
    }
}

/// A server of players to which a new client connects each time.
pub(crate) struct Joining {
    server: Server,
    now: Duration,
    hello: Packets,
    /// The packets with which the client answers, which are the same each time.
    answers: Packets,
}

impl Joining {
    /// Returns a server with `players` players, and one client that has received them.
    ///
    /// # Panics
    /// Panics if the client has not received them.
    pub(crate) fn new(players: u32) -> Self {
        let mut server = Server::new(at_once());
        let players: Vec<_> = (0..players).map(|index| server.spawn(Player::nth(index))).collect();
        let now = TICK;
        let (mut client, mut hello) = (new_client::<Player>(FOREVER), Packets::default());
        take_and_answer(&mut client, now, &mut Packets::default(), &mut hello);
        let mut joining = Self { server, now, hello, answers: Packets::default() };
        let (mut sent, mut answers) = (Packets::default(), Packets::default());
        let connection = joining.connect();
        joining.send(connection, |packet| sent.push(packet));
        take_and_answer(&mut client, joining.now, &mut sent, &mut answers);
        joining.answers = answers;
        joining.acknowledge(connection);
        assert_same(&joining.server, &players, &client);
        joining.server.tick(joining.now + TICK);
        // The server reports to the client that it has everything.
        while joining.server.poll_transmit(connection).is_some() {}
        joining.server.tick(joining.now + TICK * 2);
        assert!(joining.server.poll_transmit(connection).is_none(), "a client that has all is sent nothing");
        joining.leave(connection);
        joining
    }

    /// Returns how long one client takes from its hello to the acknowledgement of the last player, and its
    /// bytes.
    ///
    /// # Panics
    /// Panics if something is left unacknowledged.
    pub(crate) fn join(&mut self) -> (Duration, u64) {
        let mut bytes = 0;
        let connection = self.server.connect(self.now);
        let start = Instant::now();
        self.greet(connection);
        self.send(connection, |packet| bytes += packet.len() as u64);
        self.acknowledge(connection);
        let time = start.elapsed();
        let in_flight = self.server.connection_info(connection).stats().map(|stats| stats.packets_in_flight);
        assert_eq!(in_flight, Some(0), "the answers fit");
        self.leave(connection);
        (time, bytes)
    }

    /// Lets `count` clients join one after another. Returns how long the joins took in total.
    pub(crate) fn joins(&mut self, count: u64) -> Duration {
        (0..count).map(|_| self.join().0).sum()
    }

    /// Does the same as [`joins`](Self::joins), but changes every player between two joins, so that the
    /// server must encode all players again for each client.
    pub(crate) fn joins_anew(&mut self, count: u64) -> Duration {
        let join = |_| {
            for (_, player) in self.server.objects_mut::<Player>() {
                player.score ^= 1;
            }
            self.server.tick(self.now);
            self.join().0
        };
        (0..count).map(join).sum()
    }

    fn connect(&mut self) -> ConnectionId {
        let connection = self.server.connect(self.now);
        self.greet(connection);
        connection
    }

    fn greet(&mut self, connection: ConnectionId) {
        self.hello.iter().for_each(|packet| self.server.receive(connection, self.now, packet));
    }

    fn send(&mut self, connection: ConnectionId, mut transmit: impl FnMut(&[u8])) {
        self.server.tick(self.now);
        while let Some(packet) = self.server.poll_transmit(connection) {
            transmit(black_box(packet));
        }
    }

    fn acknowledge(&mut self, connection: ConnectionId) {
        self.answers.iter().for_each(|packet| self.server.receive(connection, self.now, packet));
    }

    /// Closes the connection of a client that leaves, and lets the server forget it.
    fn leave(&mut self, connection: ConnectionId) {
        self.server.connection(connection).disconnect();
        self.now += ServerConfig::default().timeout * 2;
        self.server.tick(self.now);
        assert!(self.server.connection_info(connection).stats().is_none(), "a client that left is forgotten");
        while self.server.poll_event().is_some() {}
    }
}

/// Returns a new client. Every client has the same session, so one client's packets can replace another's.
fn new_client<P: Avatar>(timeout: Duration) -> Client {
    let mut client = Client::new(
        ClientConfig { timeout, max_objects: MOST_OBJECTS, ..ClientConfig::default() },
        Session::for_tests(1),
    );
    client.register::<P>();
    client
}

fn take_and_answer(client: &mut Client, now: Duration, sent: &mut Packets, answers: &mut Packets) {
    for packet in sent.iter() {
        client.receive(now, packet).expect("a packet of the server");
    }
    sent.clear();
    client.tick(now);
    while let Some(answer) = client.poll_transmit() {
        answers.push(answer);
    }
}

fn assert_same<P: Avatar>(server: &Server, players: &[ObjectRef<P>], client: &Client) {
    assert_eq!(client.objects::<P>().count(), players.len(), "the client has another number of players");
    for player in players {
        assert_eq!(client.get(*player), server.get(*player), "the client's player differs");
    }
}

/// Writes one player after another by its reference.
struct ByReference<'a, P>(&'a mut Server, &'a [ObjectRef<P>]);

impl<P: Avatar> Arena for ByReference<'_, P> {
    #[inline]
    fn set_health(&mut self, index: u32, health: u16) {
        P::set_health_of(self.0, self.1[index as usize], health);
    }

    #[inline]
    fn turn(&mut self, index: u32, position: [f32; 3], yaw: f32) {
        P::turn_of(self.0, self.1[index as usize], position, yaw);
    }
}

/// Writes players in memory order. The order in memory is the order in which the players were spawned,
/// because none was despawned. The players of a tick have ascending indices.
struct AllAtOnce<I> {
    players: I,
    next: u32,
}

impl<'a, P: Avatar, I: Iterator<Item = (ObjectRef<P>, &'a mut P)>> AllAtOnce<I> {
    fn player(&mut self, index: u32) -> &'a mut P {
        let skipped = index - std::mem::replace(&mut self.next, index + 1);
        self.players.nth(skipped as usize).expect("players enough").1
    }
}

impl<'a, P: Avatar, I: Iterator<Item = (ObjectRef<P>, &'a mut P)>> Arena for AllAtOnce<I> {
    #[inline]
    fn set_health(&mut self, index: u32, health: u16) {
        self.player(index).set_health(health);
    }

    #[inline]
    fn turn(&mut self, index: u32, position: [f32; 3], yaw: f32) {
        self.player(index).turn(position, yaw);
    }
}
