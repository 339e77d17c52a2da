//! Connections to a large world, each of which sees a part of it, and the memory that the server holds for
//! each of them.
//!
//! *Invariant:* the memory is measured when nobody moves and everything is acknowledged, except the changes
//! that a test leaves unacknowledged.

use std::time::Duration;

use repl::prelude::*;
use repl::sim::Rng;
use repl::{Area, Group, Relevancy};

use crate::allocator::held;

const TICK: Duration = Duration::from_millis(33);
/// Longer than any measurement, so no keep-alive packet is sent.
const FOREVER: Duration = Duration::from_secs(1 << 32);
/// A part of the memory that is no longer needed is freed only after this many ticks.
const REST_TICKS: u32 = 1_100;
/// The group that sees one object in twenty.
const FEW: Group = Group(1);

/// Which objects a connection sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// About 80 objects around its viewpoint.
    Near,
    /// One object in twenty, by its group.
    Few,
    All,
}

/// What has happened to the connections before their memory is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The connections have joined, and have everything that they see.
    Joined,
    /// After that, they have walked 600 metres, or all objects that they see were hidden and shown again.
    Walked,
    /// After that, one object in a hundred has changed, and nothing was acknowledged.
    OutOfStep,
}

#[derive(Default, Replicated)]
struct Creature {
    #[replicated]
    position: [f32; 2],
    #[replicated]
    health: u16,
}

/// A server with objects in a plane and clients.
struct Wanderers {
    server: Server,
    clients: Vec<(ConnectionId, Client, [f32; 2])>,
    creatures: Vec<ObjectRef<Creature>>,
    now: Duration,
}

impl Wanderers {
    /// Returns a server with clients that have everything that they see. The density of the objects does not
    /// depend on their number.
    fn new(objects: usize, connections: usize, seen: Seen) -> Self {
        let mut server = Server::new(ServerConfig {
            timeout: FOREVER,
            congestion_control: repl::CongestionControl::Off,
            max_connection_bytes: 64 << 20,
            ..ServerConfig::default()
        });
        let position = |creature: &Creature| [creature.position[0], creature.position[1], 0.0];
        if seen == Seen::Near {
            server.class().locate(Area::within(100.0).flat(), position);
        }
        let (mut rng, extent) = (Rng::new(3), (objects as f32).sqrt() * 10.0);
        let mut point = || [0, 1].map(|_| (rng.below(20_001) as f32 / 10_000.0 - 1.0) * extent);
        let creatures = (0..objects).map(|at| {
            let creature = server.spawn(Creature { position: point(), health: 1 });
            if seen == Seen::Few {
                let relevancy = if at % 20 == 0 { Relevancy::Group(FEW) } else { Relevancy::Nobody };
                server.object(creature).set_relevancy(relevancy);
            }
            creature
        });
        let creatures = creatures.collect();
        let mut world = Self { server, clients: Vec::new(), creatures, now: TICK };
        for number in 0..connections {
            let connection = world.server.connect(Duration::ZERO);
            let config = ClientConfig { timeout: FOREVER, ..ClientConfig::default() };
            let mut client = Client::new(config, Session::for_tests(number as u64 + 1));
            client.register::<Creature>();
            world.clients.push((connection, client, point()));
        }
        world.set_members(true);
        (0..40).for_each(|_| world.tick(0.0));
        world
    }

    fn set_members(&mut self, are_members: bool) {
        for (connection, ..) in &self.clients {
            let mut connection = self.server.connection(*connection);
            _ = if are_members { connection.join_group(FEW) } else { connection.leave_group(FEW) };
        }
    }

    /// Runs a tick in which each client walks towards the middle of the world.
    fn tick(&mut self, metres: f32) {
        self.now += TICK;
        for (connection, _, point) in &mut self.clients {
            let left = point[0].hypot(point[1]).max(metres).max(1.0);
            *point = point.map(|coordinate| coordinate * (1.0 - metres / left));
            self.server.connection(*connection).set_viewpoints(&[[point[0], point[1], 0.0]]);
        }
        self.server.tick(self.now);
        for (connection, client, _) in &mut self.clients {
            while let Some(packet) = self.server.poll_transmit(*connection) {
                client.receive(self.now, packet).expect("what the server sends can be read");
            }
            client.tick(self.now);
            while let Some(packet) = client.poll_transmit() {
                self.server.receive(*connection, self.now, packet);
            }
        }
    }

    fn walk(&mut self) {
        (0..300).for_each(|_| self.tick(2.0));
        self.set_members(false);
        (0..20).for_each(|_| self.tick(0.0));
        self.set_members(true);
        (0..20).for_each(|_| self.tick(0.0));
    }

    /// Changes one object in a hundred. No packet arrives.
    fn fall_behind(&mut self) {
        for &creature in self.creatures.iter().step_by(100) {
            self.server[creature].health += 1;
        }
        self.now += TICK;
        self.server.tick(self.now);
        for (connection, ..) in &self.clients {
            while self.server.poll_transmit(*connection).is_some() {}
        }
    }

    /// Ends the server and returns how much memory it held.
    fn server_bytes(mut self, state: State) -> isize {
        (0..REST_TICKS).for_each(|_| self.tick(0.0));
        if state == State::OutOfStep {
            self.fall_behind();
        }
        let Self { server, clients, .. } = self;
        let before = held();
        drop(server);
        let bytes = before - held();
        drop(clients);
        bytes
    }
}

/// Returns how many bytes the server holds for each connection in a world with this many objects.
pub(crate) fn per_connection(objects: usize, seen: Seen, state: State) -> f64 {
    let bytes = |connections: usize| {
        let mut world = Wanderers::new(objects, connections, seen);
        if state == State::Walked {
            world.walk();
        }
        world.server_bytes(state)
    };
    (bytes(12) - bytes(4)) as f64 / 8.0
}
