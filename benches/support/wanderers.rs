//! Connections that walk through a large world, and the memory that the server holds for each of them.
//!
//! *Invariant:* the memory is measured when everything is acknowledged and nobody moves.

use std::time::Duration;

use repl::Area;
use repl::prelude::*;
use repl::sim::Rng;

use crate::allocator::held;

const TICK: Duration = Duration::from_millis(33);
/// Longer than any measurement, so no keep-alive packet is sent.
const FOREVER: Duration = Duration::from_secs(1 << 32);
/// A part of the memory that is no longer needed is freed only after so many ticks.
const REST_TICKS: u32 = 1_100;

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
    now: Duration,
}

impl Wanderers {
    /// Returns a server with clients that have everything in their sight: about 80 objects. The objects are
    /// equally dense however many there are.
    fn new(objects: usize, connections: usize) -> Self {
        let mut server = Server::new(ServerConfig {
            timeout: FOREVER,
            congestion_control: repl::CongestionControl::Off,
            ..ServerConfig::default()
        });
        let position = |creature: &Creature| [creature.position[0], creature.position[1], 0.0];
        server.class().locate(Area::within(100.0).flat(), position);
        let (mut rng, extent) = (Rng::new(3), (objects as f32).sqrt() * 10.0);
        let mut point = || [0, 1].map(|_| (rng.below(20_001) as f32 / 10_000.0 - 1.0) * extent);
        for _ in 0..objects {
            let position = point();
            server.spawn(Creature { position, health: 1 });
        }
        let mut world = Self { server, clients: Vec::new(), now: TICK };
        for number in 0..connections {
            let connection = world.server.connect(Duration::ZERO);
            let config = ClientConfig { timeout: FOREVER, ..ClientConfig::default() };
            let mut client = Client::new(config, Session::for_tests(number as u64 + 1));
            client.register::<Creature>();
            world.clients.push((connection, client, point()));
        }
        (0..20).for_each(|_| world.tick(0.0));
        world
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

    /// Ends the server and returns how much memory it held.
    fn server_bytes(mut self) -> isize {
        (0..REST_TICKS).for_each(|_| self.tick(0.0));
        let Self { server, clients, .. } = self;
        let before = held();
        drop(server);
        let bytes = before - held();
        drop(clients);
        bytes
    }
}

/// Returns how many bytes the server holds for each connection in a world with so many objects: after the
/// connection has everything in its sight, and after it has also walked a way of 600 metres.
pub(crate) fn per_connection(objects: usize) -> [f64; 2] {
    [0, 300].map(|ticks| {
        let bytes = |connections: usize| {
            let mut world = Wanderers::new(objects, connections);
            (0..ticks).for_each(|_| world.tick(2.0));
            world.server_bytes()
        };
        (bytes(24) - bytes(8)) as f64 / 16.0
    })
}
